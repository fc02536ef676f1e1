/** Python that is sent to the kernel, as text. */
declare module '*.py' {
  const source: string;
  export default source;
}

/** A drawing, as text. */
declare module '*.svg' {
  const source: string;
  export default source;
}
