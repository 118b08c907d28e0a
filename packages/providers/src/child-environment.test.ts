import fc from 'fast-check';
import { expect, test } from 'vitest';
import { childEnvironment } from './child-environment.ts';

const parent = {
  PATH: '/bin',
  HOME: '/home/u',
  LC_TIME: 'C',
  LANG: 'de_DE.UTF-8',
  LANGUAGE: 'de',
  TZ: 'UTC',
  XDG_RUNTIME_DIR: '/run/u',
  SSH_AUTH_SOCK: '/tmp/agent',
  GITHUB_TOKEN: 'secret',
  VENDOR_KEY: 'key',
  VENDOR_NESTED: '1',
  ROOST_TOKEN: 'secret',
  ROOST_PROCESS: 'node',
  ROOST_SESSION_ID: 'outer',
  UNSET: undefined,
};
const nothing = { inherit: [], scrub: [], set: {} };

test('only the common variables cross by themselves', () => {
  expect(childEnvironment({ parent, ...nothing })).toEqual({
    PATH: '/bin',
    HOME: '/home/u',
    LC_TIME: 'C',
    LANG: 'de_DE.UTF-8',
    LANGUAGE: 'de',
    TZ: 'UTC',
    XDG_RUNTIME_DIR: '/run/u',
  });
});

test('names and patterns let more in, scrubbing takes out, setting wins', () => {
  const plan = {
    parent,
    inherit: ['VENDOR_*', 'SSH_AUTH_SOCK', 'UNSET'],
    scrub: ['VENDOR_NESTED', 'LANGUAGE'],
  };
  const environment = childEnvironment({ ...plan, set: { HOME: '/elsewhere', NEW: '' } });
  expect(environment).toMatchObject({
    VENDOR_KEY: 'key',
    SSH_AUTH_SOCK: '/tmp/agent',
    HOME: '/elsewhere',
    NEW: '',
  });
  for (const name of ['VENDOR_NESTED', 'LANGUAGE', 'UNSET', 'GITHUB_TOKEN'])
    expect(environment).not.toHaveProperty(name);
  expect(childEnvironment({ ...plan, set: { VENDOR_NESTED: '2' } })).toHaveProperty('VENDOR_NESTED', '2');
});

test('a name without a star is no pattern', () => {
  expect(
    childEnvironment({ parent: { VENDOR_KEY: '1', HOMEPAGE: '2' }, ...nothing, inherit: ['VENDOR_'] }),
  ).toEqual({});
});

test('nothing that says who a process is to Roost crosses, asked for or set', () => {
  const set = { ROOST_PROCESS: 'x', ROOST_SESSION_ID: 'x', ROOST_HOME: '/r' };
  expect(
    childEnvironment({ parent, inherit: ['ROOST_*', 'ROOST_TOKEN', '*'], scrub: [], set }),
  ).not.toMatchObject({
    ROOST_TOKEN: expect.anything(),
  });
  const environment = childEnvironment({ parent, inherit: ['*'], scrub: [], set });
  expect(Object.keys(environment).filter((name) => name.startsWith('ROOST_'))).toEqual(['ROOST_HOME']);
});

test('whatever the parent holds, no name crosses that was not let in', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[A-Z_]{1,12}$/), fc.string()), (variables) => {
      const common = /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|LANGUAGE|TZ|LC_.*|XDG_.*|A_KEY)$/;
      const environment = childEnvironment({ parent: variables, ...nothing, inherit: ['A_KEY'] });
      for (const [name, value] of Object.entries(environment)) {
        expect(name).toMatch(common);
        expect(value).toBe(variables[name]);
      }
    }),
  );
});
