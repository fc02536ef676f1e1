import { defineConfig } from 'vitest/config';

import { inlineBundleForTests } from './inline-bundle.mjs';

export default defineConfig({
  plugins: [inlineBundleForTests],
  test: {
    environment: 'happy-dom',
    include: ['shared/**/*.test.ts', 'tensorlab_widgets/**/*.test.ts'],
  },
});
