// `import source from './layout.worker.ts?bundle'` gives a module and all it imports as one script in a string, ready for a
// worker made from a Blob: a widget is one file, so it cannot point at a second one.
import { build } from 'esbuild';
import path from 'node:path';

const SUFFIX = '?bundle';

async function script(file) {
  const result = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
  });
  return `export default ${JSON.stringify(result.outputFiles[0].text)};`;
}

/** The plugin for esbuild, which makes the bundles. */
export const inlineBundle = {
  name: 'inline-bundle',
  setup(esbuild) {
    esbuild.onResolve({ filter: /\?bundle$/ }, ({ path: name, resolveDir }) => ({
      path: path.resolve(resolveDir, name.slice(0, -SUFFIX.length)),
      namespace: 'inline-bundle',
    }));
    esbuild.onLoad({ filter: /.*/, namespace: 'inline-bundle' }, async ({ path: file }) => ({
      contents: await script(file),
      loader: 'js',
      watchFiles: [file],
    }));
  },
};

/** The same for Vitest, which runs the tests. */
export const inlineBundleForTests = {
  name: 'inline-bundle',
  enforce: 'pre',
  load(id) {
    return id.endsWith(SUFFIX) ? script(id.slice(0, -SUFFIX.length)) : null;
  },
};
