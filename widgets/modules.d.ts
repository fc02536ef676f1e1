/** A style sheet imported for its effect: it becomes part of the bundle's own `.css` file. */
declare module '*.css';

/** `import source from './layout.worker.ts?bundle'`: the module with all it imports, as one classic script in a string. */
declare module '*?bundle' {
  const source: string;
  export default source;
}
