// Style is the formatter's business; this file holds the rules that catch faults and the arrows between packages.
import js from '@eslint/js';
import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

/** What each package may import of the others (docs/architecture.md, "Packages"). Anything not listed is refused. */
const ARROWS = {
  protocol: [],
  keeper: ['@roost/protocol/terminal-frames', '@roost/protocol/terminal-reset'],
  providers: ['@roost/protocol'],
  node: [
    '@roost/protocol',
    '@roost/protocol/node',
    '@roost/protocol/terminal-frames',
    '@roost/providers',
    '@roost/storage',
    '@roost/keeper/client',
    '@roost/keeper/wire',
    '@roost/keeper/processes',
  ],
  client: [
    '@roost/protocol',
    '@roost/protocol/node',
    '@roost/protocol/terminal-frames',
    '@roost/protocol/terminal-reset',
  ],
  cli: ['@roost/client', '@roost/protocol'],
  hub: [
    '@roost/client',
    '@roost/protocol',
    '@roost/protocol/node',
    '@roost/protocol/terminal-frames',
    '@roost/storage',
  ],
  storage: ['@roost/protocol'],
  web: ['@roost/client/browser', '@roost/protocol'],
};
/** What it may import types of besides: nothing of it is there when it runs. */
const TYPE_ARROWS = { keeper: '@roost/protocol' };
const arrows = Object.entries(ARROWS).map(([name, allowed]) => {
  const others =
    allowed.length === 0
      ? '^@roost/'
      : `^@roost/(?!(${allowed.map((one) => one.slice('@roost/'.length)).join('|')})$)`;
  const message = `packages/${name} may not import this: see ARROWS`;
  const typesOf = TYPE_ARROWS[name];
  const restricted =
    typesOf === undefined
      ? [{ regex: others, message }]
      : [
          { regex: `^(?!${typesOf}$)${others.slice(1)}`, message },
          { regex: `^${typesOf}$`, message, allowTypeImports: true },
        ];
  return {
    files: [`packages/${name}/src/**/*.{ts,tsx}`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            ...restricted,
            {
              regex: '^(\\.\\./)+(protocol|keeper|providers|storage|node|client|cli|hub|web|lab)/src',
              message: 'import packages by name',
            },
          ],
        },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: `ImportExpression > Literal[value=/${others.replaceAll('/', '\\/')}/]`, message },
      ],
    },
  };
});

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/coverage/**'] },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [
      js.configs.recommended,
      ...tseslint.configs.strictTypeChecked,
      ...tseslint.configs.stylisticTypeChecked,
    ],
    plugins: { 'import-x': importX },
    settings: {
      'import-x/extensions': ['.ts', '.tsx'],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts', '.tsx'] },
    },
    languageOptions: {
      parserOptions: {
        // Code for browsers is checked against other globals.
        project: ['./tsconfig.json', './packages/web/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      // `import { type X }` keeps the import itself: it loads a module for nothing.
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Not through packages: one of them alone takes longer to read than everything of ours. Nor through `import()`: a list of what is
      // loaded when it is asked for may be read by what it lists.
      'import-x/no-cycle': ['error', { ignoreExternal: true, allowUnsafeDynamicCyclicDependency: true }],
      'no-console': 'error',
      eqeqeq: 'error',
      // Terminal protocols are made of control characters.
      'no-control-regex': 'off',
    },
  },
  ...arrows,
  {
    files: ['packages/cli/src/**/*.ts', 'packages/lab/src/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.test.{ts,tsx}', 'test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
  {
    files: ['**/*.mjs'],
    extends: [js.configs.recommended, tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: Object.fromEntries(
        ['AbortController', 'Buffer', 'URL', 'console', 'process'].map((name) => [name, 'readonly']),
      ),
    },
  },
);
