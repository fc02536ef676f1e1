// Builds the JupyterLab extension into `labextension/`: esbuild joins our sources and the shared drawing code into
// `lib/index.js`, then jupyter-builder wraps that as a module that JupyterLab loads. Types are checked apart (`npm run types`).
import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { inlineBundle } from '../widgets/inline-bundle.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));

await build({
  entryPoints: [path.join(HERE, 'src/index.ts')],
  outfile: path.join(HERE, 'lib/index.js'),
  bundle: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  external: ['@jupyterlab/*', '@lumino/*'],
  loader: { '.py': 'text', '.svg': 'text' },
  logLevel: 'warning',
  plugins: [inlineBundle],
});

const wrapped = spawnSync('jupyter-builder', ['build', '.'], {
  cwd: HERE,
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
if (wrapped.error?.code === 'ENOENT') {
  console.error('jupyter-builder is not on PATH: pip install jupyter-builder, or activate the environment.');
}
if (wrapped.status !== 0) {
  process.exit(1);
}
copyFileSync(path.join(HERE, 'install.json'), path.join(HERE, 'labextension/install.json'));
