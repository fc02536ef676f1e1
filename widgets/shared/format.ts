// Numbers, bytes and shapes as people read them.

/** Short: `0.42`, `8.4e-2`, `1.0`, `12,300`, `−1.2e-5`; `none` for null. */
export function short(value: number | null): string {
  if (value === null) return 'none';
  if (Number.isNaN(value)) return 'NaN';
  const sign = value < 0 ? '−' : '';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size === Infinity) return `${sign}Inf`;
  if (size < 0.1 || size >= 1e6) return sign + size.toExponential(1).replace('e+', 'e');
  if (size >= 1000) return sign + Math.round(size).toLocaleString('en');
  return sign + (size >= 100 ? size.toFixed(0) : size.toPrecision(2));
}

/** For reading aloud and for editing: five digits. */
export function exact(value: number): string {
  return String(Number(value.toPrecision(7)));
}

/** `4.0 KiB` */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let size = count / 1024;
  let unit = 0;
  while (size >= 1023.95 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size.toFixed(1)} ${units[unit]}`;
}

/** As Python prints it: `[64, 16]`. */
export function shape(sizes: readonly number[]): string {
  return `[${sizes.join(', ')}]`;
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** The number a person typed: `0.5`, `-1e3`, `nan`, `inf`, `-inf`; null when it is none. */
export function parseNumber(text: string): number | 'nan' | 'inf' | '-inf' | null {
  const word = text.trim().toLowerCase().replace('−', '-');
  if (word === 'nan') return 'nan';
  if (/^\+?inf(inity)?$/.test(word)) return 'inf';
  if (/^-inf(inity)?$/.test(word)) return '-inf';
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(word)) return null;
  const value = Number(word);
  return Number.isFinite(value) ? value : null;
}
