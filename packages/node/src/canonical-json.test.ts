import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalDigest, canonicalJson } from './canonical-json.ts';

it('is one text for equal values, whatever the order of their keys', () => {
  expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true })).toBe(
    '{"a":true,"b":[1,{"c":"x","d":null}]}',
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, turn) => {
      const entries = Object.entries(value);
      const at = entries.length === 0 ? 0 : turn % entries.length;
      const turned = Object.fromEntries([...entries.slice(at), ...entries.slice(0, at)]);
      expect(canonicalDigest(turned)).toBe(canonicalDigest(value));
    }),
  );
});

it('is the value again when it is read', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value));
      expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
    }),
  );
});

it('leaves out what is not there', () => {
  expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
});
