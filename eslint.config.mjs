import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import globals from 'globals';
import typescript from 'typescript-eslint';

export default typescript.config(
  {
    ignores: [
      '.venv/**',
      'build/**',
      'dist/**',
      'artifacts/**',
      'extension/lib/**',
      'extension/labextension/**',
      'widgets/tensorlab_widgets/static/**',
    ],
  },
  js.configs.recommended,
  ...typescript.configs.recommended,
  {
    files: ['widgets/**/*.ts', 'extension/**/*.ts'],
    languageOptions: { globals: globals.browser },
    rules: {
      eqeqeq: 'error',
      'prefer-const': 'error',
      'no-var': 'error',
      // Drawn text is always text: no string of ours or of a user may become markup.
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Use textContent or DOM nodes.' },
        { property: 'outerHTML', message: 'Use textContent or DOM nodes.' },
        { property: 'insertAdjacentHTML', message: 'Use textContent or DOM nodes.' },
        { object: 'document', property: 'write', message: 'Use DOM nodes.' },
      ],
      // A leading underscore says "not used, on purpose".
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: globals.node },
  },
  prettier,
);
