// One bundle per instrument, found by convention: every `tensorlab_widgets/<name>/index.ts` becomes
// `tensorlab_widgets/static/<name>.js`, with `<name>.css` beside it if the instrument imports a style sheet.
//   node build.mjs            build once
//   node build.mjs --watch    build again at every change
import { context } from 'esbuild';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { inlineBundle } from './inline-bundle.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PACKAGE = path.join(HERE, 'tensorlab_widgets');
const STATIC = path.join(PACKAGE, 'static');
// The whole text of a bundle goes to the page with each widget that is shown.
const LARGEST_KILOBYTES_GZIPPED = 150;

const watch = process.argv.includes('--watch');

const instruments = Object.fromEntries(
  readdirSync(PACKAGE, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && existsSync(path.join(PACKAGE, entry.name, 'index.ts')))
    .map(entry => [entry.name, path.join(PACKAGE, entry.name, 'index.ts')]),
);

rmSync(STATIC, { recursive: true, force: true });

const bundler = await context({
  entryPoints: instruments,
  outdir: STATIC,
  bundle: true,
  minify: !watch,
  sourcemap: watch ? 'inline' : false,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  metafile: true,
  write: true,
  logLevel: watch ? 'info' : 'warning',
  plugins: [inlineBundle],
});

if (watch) {
  await bundler.watch();
} else {
  const { metafile } = await bundler.rebuild();
  await bundler.dispose();
  for (const file of Object.keys(metafile.outputs).sort()) {
    const absolute = path.resolve(file);
    const kilobytes = gzipSync(readFileSync(absolute)).length / 1000;
    console.log(`${path.relative(HERE, absolute)}  ${kilobytes.toFixed(1)} kB gzipped`);
    if (kilobytes > LARGEST_KILOBYTES_GZIPPED) {
      console.error(`${file} is larger than ${LARGEST_KILOBYTES_GZIPPED} kB gzipped`);
      process.exitCode = 1;
    }
  }
}
