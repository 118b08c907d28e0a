import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { refusalOf } from '../access/access-for-test.ts';
import { BodyBudget } from './body-budget.ts';

const MEGABYTE = 1024 * 1024;
const request = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage;
const announced = (bytes: number) => request({ 'content-length': String(bytes) });

it('is one for all, and given back', () => {
  const budget = new BodyBudget();
  const responses: EventEmitter[] = [];
  const take = (one: IncomingMessage, limit = 64 * MEGABYTE) =>
    refusalOf(() => {
      const response = new EventEmitter();
      budget.take(one, response as unknown as ServerResponse, limit);
      responses.push(response);
    });
  // What it does not announce counts as long as it may be, and what it announces no longer than that.
  expect(take(request({ 'transfer-encoding': 'chunked' }))).toBeNull();
  expect(take(announced(1_000 * MEGABYTE))).toBeNull();
  expect(take(announced(32 * MEGABYTE))).toBeNull();
  expect(take(announced(1))).toBe('backend-busy');
  expect(take(request({}))).toBeNull();
  responses[1]?.emit('close');
  expect(take(announced(64 * MEGABYTE))).toBeNull();
  expect(take(announced(1))).toBe('backend-busy');
});
