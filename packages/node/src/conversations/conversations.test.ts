/** Agents that are spoken with, in a node with real keepers: an agent that does what its prompts say stands in for theirs. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addressOf,
  type Interaction,
  type InteractionPolicy,
  type InteractionReply,
  type ParamsInput,
  type PromptDelivery,
  type Result,
  type Session,
  type TimelineEntry,
  type Transport,
} from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

const AGENT = new URL('../../../../test/support/spoken-agent.mjs', import.meta.url).pathname;

let home: TestHome;
let work: string;
let daemon: Daemon;
let client: TestClient;

const start = async (): Promise<void> => {
  const PATH = `${join(home.path, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`;
  daemon = await startTestNode(home, { environment: { PATH, HOME: home.path } });
  client = await TestClient.connect(daemon.socket);
};
const restart = async (): Promise<void> => {
  client.close();
  await daemon.stop();
  await start();
};

beforeEach(async () => {
  home = new TestHome();
  work = join(home.path, 'work');
  mkdirSync(work);
  mkdirSync(join(home.path, 'bin'));
  symlinkSync(AGENT, join(home.path, 'bin', 'qwen'));
  await start();
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await home.remove();
});

const launch = (interactions?: InteractionPolicy): Promise<Session> =>
  client.call('session.spawn', {
    directory: work,
    transport: 'pipe',
    launch: { kind: 'provider', provider: 'qwen', arguments: [] },
    ...(interactions === undefined ? {} : { interactions }),
  });
const prompt = (
  session: Session,
  text: string,
  until: PromptDelivery = 'answered',
): Promise<Result<'session.prompt'>> => client.call('session.prompt', { ...addressOf(session), text, until });

const timeline = async ({ id: sessionId }: Pick<Session, 'id'>): Promise<TimelineEntry[]> => {
  const entries: TimelineEntry[] = [];
  for (let from = 0; ;) {
    const page = await client.call('session.readTimeline', { sessionId, from });
    entries.push(...page.entries);
    if (page.entries.length === 0) return entries;
    from = page.next;
  }
};
const said = async (session: Session): Promise<string> =>
  (await timeline(session)).flatMap(({ event }) => (event.kind === 'message' ? [event.text] : [])).join('');
const kinds = async (session: Session): Promise<string[]> =>
  (await timeline(session)).map(({ event }) => event.kind).filter((kind) => kind !== 'message');

const asked = async (session?: Session, includeSettled = false): Promise<Interaction[]> => {
  const { interactions } = await client.call('interaction.list', {
    ...(session === undefined ? {} : { sessionId: session.id }),
    includeSettled,
  });
  return interactions;
};
/** The first thing that it asks. */
const waitUntilAsked = async (session: Session): Promise<Interaction> => {
  await waitFor(async () => (await asked(session)).length > 0, 'a request');
  return (await asked(session))[0]!;
};
const answer = ({ id: interactionId }: Interaction, reply: InteractionReply): Promise<Interaction> =>
  client.call('interaction.resolve', { interactionId, reply });
const ALLOW: InteractionReply = { kind: 'allow' };

const now = ({ id }: Session): Promise<Session> => client.call('session.resolve', { selector: id });
const waitUntil = (session: Session, state: string): Promise<void> =>
  waitFor(async () => {
    const { status, activity } = await now(session);
    return (status === 'running' ? activity?.state : status) === state;
  }, state);

/** Prompts and answers that agents were given, in order. */
const received = (): string[] =>
  readdirSync(work)
    .filter((name) => name.startsWith('received-'))
    .flatMap((name) => readFileSync(join(work, name), 'utf8').trim().split('\n'))
    .map(
      (line) =>
        JSON.parse(line) as { method?: string; params?: { prompt?: { text: string }[] }; result?: object },
    )
    .flatMap(({ method, params, result }) => {
      if (method === 'session/prompt') return [params?.prompt?.[0]?.text ?? ''];
      return method === undefined && result !== undefined ? [JSON.stringify(result)] : [];
    });

describe('a turn', () => {
  it('is told from its prompt to its end, and stands in the timeline from the position that the answer names', async () => {
    const session = await launch();
    expect(session).toMatchObject({ protocol: 'acp', transport: 'pipe', size: null });
    await waitUntil(session, 'ready');
    const answered = await prompt(session, 'say hello there');
    expect(answered).toMatchObject({ delivery: 'answered', outcome: 'completed' });
    expect(await kinds(session)).toEqual(['session-started', 'turn-started', 'turn-finished']);
    expect(await said(session)).toBe('hello there ');
    const { entries } = await client.call('session.readTimeline', {
      sessionId: session.id,
      from: answered.position!,
    });
    expect(entries[0]?.event).toEqual({ kind: 'turn-started', prompt: 'say hello there' });
    expect((await now(session)).activity?.state).toBe('done');
    expect((await prompt(session, 'say more')).position).toBeGreaterThan(answered.position!);
  });

  it('can be asked for before the agent has started, and is begun once it has', async () => {
    expect(await prompt(await launch(), 'say early')).toMatchObject({ delivery: 'answered' });
    expect(received()).toEqual(['say early']);
  });

  it('that is its first is shown from its begin to its end once, also when its words come with its end', async () => {
    const session = await launch();
    await prompt(session, 'burst early');
    await waitUntil(session, 'done');
    const { events } = await client.call('events.read', {});
    const shown = events.flatMap(({ body }) =>
      body.kind === 'session-changed' ? [body.session.activity?.state ?? null] : [],
    );
    expect(shown.filter((state, index) => state !== null && state !== shown[index - 1])).toEqual([
      'starting',
      'working',
      'done',
    ]);
  });

  it('takes no second prompt; one that is queued waits for its end, and those that wait are bounded', async () => {
    const session = await launch();
    expect(await prompt(session, 'wait', 'accepted')).toMatchObject({ delivery: 'accepted' });
    expect(await failureOf(prompt(session, 'say no', 'written'))).toBe('turn-in-flight');
    for (let at = 0; at < 32; at += 1)
      expect(await prompt(session, `say ${at}`, 'queued')).toMatchObject({
        delivery: 'queued',
        bytesWritten: 0,
      });
    expect(await failureOf(prompt(session, 'say much', 'queued'))).toBe('backend-busy');
    expect(received()).toEqual(['wait']);
    await client.call('session.interrupt', addressOf(session));
    await waitFor(() => received().length === 33, 'all prompts');
    expect(received()).toEqual(['wait', ...Array.from({ length: 32 }, (_, at) => `say ${at}`)]);
  });

  it('is answered to whoever asked for it, though the next prompt begins at once', async () => {
    const session = await launch();
    const first = prompt(session, 'ask make');
    const request = await waitUntilAsked(session);
    const [second] = [prompt(session, 'say two', 'queued')];
    await second;
    await answer(request, { kind: 'refuse', message: null });
    expect(await first).toMatchObject({ delivery: 'answered', outcome: 'completed' });
    await waitFor(() => received().includes('say two'), 'the second prompt');
  });

  it("that is interrupted is nobody's news; without a turn, an interrupt does nothing", async () => {
    const session = await launch();
    await waitUntil(session, 'ready');
    await client.call('session.interrupt', addressOf(session));
    const turn = prompt(session, 'wait');
    await waitUntil(session, 'working');
    await client.call('session.interrupt', addressOf(session));
    expect(await turn).toMatchObject({ outcome: 'interrupted' });
    await waitUntil(session, 'idle');
  });

  it('fails with the agent that dies in it, and so does what was queued', async () => {
    const session = await launch();
    const turn = prompt(session, 'wait');
    await waitUntil(session, 'working');
    const { pid } = await now(session);
    await prompt(session, 'say later', 'queued');
    process.kill(pid!, 'SIGKILL');
    expect(await turn).toMatchObject({ delivery: 'answered', outcome: 'failed' });
    await waitUntil(session, 'exited');
    expect(await failureOf(prompt(session, 'say again'))).toBe('session-not-running');
    expect((await timeline(session)).slice(-2).map(({ event }) => event)).toEqual([
      { kind: 'turn-finished', outcome: 'failed', stopReason: null, fault: 'the agent was ended by SIGKILL' },
      { kind: 'session-ended', fault: 'the agent was ended by SIGKILL' },
    ]);
    const { ended } = await client.call('session.readTimeline', { sessionId: session.id, from: 1_000_000 });
    expect(ended).toBe(true);
  });

  it('goes on in the next run of the record, with the conversation of before, and not told again', async () => {
    const session = await launch();
    await prompt(session, 'say first');
    const before = await now(session);
    await client.call('session.stop', addressOf(session));
    const { session: next } = await client.call('record.resume', {
      recordId: before.recordId!,
      prompt: 'say second',
    });
    await waitFor(async () => (await said(next)) === 'second ', 'the answer');
    expect(next).toMatchObject({ recordId: before.recordId, generation: 2, protocol: 'acp' });
    expect(received()).toEqual(['say first', 'say second']);
  });
});

describe('a request of the agent', () => {
  it.each([
    [ALLOW, 'told once', 'approved'],
    [{ kind: 'option', optionId: 'always' }, 'told always', 'approved'],
    [{ kind: 'refuse', message: null }, 'told no', 'refused'],
  ] satisfies [InteractionReply, string, string][])('is answered with %j', async (reply, told, outcome) => {
    const session = await launch();
    const turn = prompt(session, 'ask make');
    const request = await waitUntilAsked(session);
    expect(request).toMatchObject({
      session: addressOf(session),
      sessionName: session.name,
      state: 'pending',
      detail: 'make secret-canary',
      expiresAt: null,
      options: [{ optionId: 'always' }, { optionId: 'once' }, { optionId: 'no' }],
    });
    expect((await now(session)).activity).toMatchObject({ state: 'blocked', reason: 'approval' });
    expect(await answer(request, reply)).toMatchObject({ state: 'answered', outcome, answeredBy: 'person' });
    await turn;
    expect(await said(session)).toBe(told);
    expect(await asked(session)).toEqual([]);
    expect(await asked(session, true)).toMatchObject([{ id: request.id, state: 'answered' }]);
  });

  it('is answered once: a late answer, a strange one and one to nothing are refused and change nothing', async () => {
    const session = await launch();
    const turn = prompt(session, 'ask make');
    const request = await waitUntilAsked(session);
    for (const reply of [
      { kind: 'option', optionId: 'maybe' },
      { kind: 'text', text: 'why?' },
    ] satisfies InteractionReply[])
      expect(await failureOf(answer(request, reply))).toBe('interaction-reply-refused');
    const both = await Promise.allSettled([
      answer(request, ALLOW),
      answer(request, { kind: 'refuse', message: null }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await turn;
    expect(await failureOf(answer(request, ALLOW))).toBe('interaction-settled');
    expect(await failureOf(answer({ ...request, id: '0'.repeat(24) as Interaction['id'] }, ALLOW))).toBe(
      'unknown-interaction',
    );
    expect(received().filter((line) => line.includes('outcome'))).toHaveLength(1);
  });

  it('waits beside another: answering one leaves the session blocked', async () => {
    const session = await launch();
    const turn = prompt(session, 'two make');
    await waitFor(async () => (await asked(session)).length === 2, 'both');
    const [one, other] = await asked(session);
    await answer(one!, ALLOW);
    expect((await now(session)).activity?.state).toBe('blocked');
    await answer(other!, { kind: 'refuse', message: null });
    await turn;
    expect(await said(session)).toBe('told once no');
  });

  it('outlives the node: the same request, asked of the agent once', async () => {
    const session = await launch();
    await prompt(session, 'ask make', 'accepted');
    const request = await waitUntilAsked(session);
    await restart();
    expect(await asked(session)).toEqual([request]);
    expect((await now(session)).activity?.state).toBe('blocked');
    await answer(request, ALLOW);
    await waitUntil(session, 'done');
    expect(await said(session)).toBe('told once');
    expect(await kinds(session)).toEqual([
      'session-started',
      'turn-started',
      'tool-started',
      'interaction-requested',
      'interaction-settled',
      'tool-finished',
      'turn-finished',
    ]);
  });

  it('is withdrawn when the agent is lost while no node runs', async () => {
    const session = await launch();
    await prompt(session, 'ask make', 'accepted');
    const request = await waitUntilAsked(session);
    await prompt(session, 'say later', 'queued');
    client.close();
    await daemon.stop();
    for (const { pid } of home.keepers) process.kill(pid, 'SIGKILL');
    await waitFor(() => home.keepers.length === 0, 'the keepers to be gone');
    await start();
    await waitFor(async () => (await asked(session)).length === 0, 'the request to be withdrawn');
    expect(await asked(session, true)).toMatchObject([{ id: request.id, state: 'withdrawn' }]);
    expect((await kinds(session)).slice(-2)).toEqual(['turn-finished', 'session-ended']);
    const { ended } = await client.call('session.readTimeline', { sessionId: session.id, from: 1_000_000 });
    expect(ended).toBe(true);
  });

  it('is withdrawn when its turn is interrupted', async () => {
    const session = await launch();
    const turn = prompt(session, 'ask make');
    const request = await waitUntilAsked(session);
    await client.call('session.interrupt', addressOf(session));
    await turn;
    expect(await asked(session, true)).toMatchObject([
      { id: request.id, state: 'withdrawn', answeredBy: null },
    ]);
  });

  it('is answered by the first rule that names its tool; without one, by a person', async () => {
    const session = await launch({
      rules: [
        { tool: 'rm*', answer: 'refuse' },
        { tool: 'r*', answer: 'allow' },
        { tool: 'make', answer: 'ask' },
      ],
      deadlineMs: null,
    });
    await prompt(session, 'ask rm-all');
    await prompt(session, 'ask read');
    expect(await said(session)).toBe('told notold once');
    expect(await asked(session, true)).toMatchObject([
      { answeredBy: 'rule', outcome: 'approved' },
      { answeredBy: 'rule', outcome: 'refused' },
    ]);
    const { events } = await client.call('events.read', {});
    const states = events.flatMap(({ body }) =>
      body.kind === 'session-changed' ? [body.session.activity?.state] : [],
    );
    expect(states).not.toContain('blocked');
    await prompt(session, 'ask make', 'accepted');
    expect(await waitUntilAsked(session)).toMatchObject({ state: 'pending' });
  });

  it('is refused when nobody answers in time, also when that passed while no node ran', async () => {
    const session = await launch({ rules: [], deadlineMs: 1_000 });
    await prompt(session, 'ask make');
    expect(await asked(session, true)).toMatchObject([
      { state: 'expired', answeredBy: 'deadline', outcome: 'refused' },
    ]);
    await prompt(session, 'ask again', 'accepted');
    const request = await waitUntilAsked(session);
    client.close();
    await daemon.stop();
    await waitFor(() => Date.now() > Date.parse(request.expiresAt!), 'the deadline');
    await start();
    await waitUntil(session, 'done');
    expect(await said(session)).toBe('told notold no');
  });

  it('says what it is about to whoever answers, and to nobody else', async () => {
    const session = await launch();
    await prompt(session, 'ask make', 'accepted');
    const request = await waitUntilAsked(session);
    const observer = await TestClient.connect(daemon.socket, { role: 'observer' });
    observer.lease = null;
    expect(await failureOf(observer.call('interaction.list', {}))).toBe('observer-read-only');
    expect(
      await failureOf(observer.call('interaction.resolve', { interactionId: request.id, reply: ALLOW })),
    ).toBe('observer-read-only');
    const { id: sessionId } = session;
    for (const looking of [
      observer.call('session.readTimeline', { sessionId }),
      observer.call('session.readOutput', { sessionId, stream: 'stdout', offset: 0 }),
      observer.call('session.followOutput', { sessionId, stream: 'stdout', offset: 0 }),
    ])
      expect(await failureOf(looking)).toBe('observer-read-only');
    observer.close();
    const { events } = await client.call('events.read', {});
    expect(JSON.stringify(events)).not.toContain('secret-canary');
    expect(events.map(({ body }) => body)).toContainEqual({
      kind: 'interaction-changed',
      interaction: expect.objectContaining({
        id: request.id,
        state: 'pending',
        interaction: 'approval',
      }) as unknown,
    });
  });
});

describe('what an agent says', () => {
  it('is kept whole when it comes at once', async () => {
    const session = await launch();
    await prompt(session, 'flood 20000');
    expect(await said(session)).toBe('0123456789'.repeat(20_000));
  });

  it('beyond the longest line is left out with a word, and what follows counts', async () => {
    const session = await launch();
    await prompt(session, 'long 9000000');
    expect(await said(session)).toBe('after');
    expect((await timeline(session)).map(({ event }) => event)).toContainEqual({
      kind: 'notice',
      level: 'warning',
      text: 'A line of the agent was too long.',
    });
  });

  it('that nobody understands is a notice', async () => {
    const session = await launch();
    expect(await prompt(session, 'bad')).toMatchObject({ outcome: 'completed' });
    expect((await kinds(session)).filter((kind) => kind === 'notice')).toHaveLength(2);
  });

  it('wakes whoever waits for it, comes in pages, and from the end on demand', async () => {
    const session = await launch();
    await waitUntil(session, 'ready');
    const { next } = await client.call('session.readTimeline', { sessionId: session.id, from: -1 });
    const waiting = client.call('session.readTimeline', {
      sessionId: session.id,
      from: next,
      waitMs: 30_000,
    });
    await prompt(session, 'say one');
    expect((await waiting).entries[0]?.event.kind).toBe('turn-started');
    const first = await client.call('session.readTimeline', { sessionId: session.id, from: 0, maxBytes: 1 });
    expect(first.entries).toHaveLength(1);
    const all = await timeline(session);
    const last = await client.call('session.readTimeline', { sessionId: session.id, from: -300 });
    expect(last.entries).toEqual(all.slice(-last.entries.length));
    expect(last.entries.length).toBeLessThan(all.length);
    expect(last.entries.length).toBeGreaterThan(0);
  });
});

describe('a session that is spoken with', () => {
  it('takes neither typing nor pasting, and has no screen', async () => {
    const session = await launch();
    const address = addressOf(session);
    for (const work of [
      client.call('session.input', { ...address, text: '{}', framing: 'raw' }),
      client.call('session.paste', { ...address, text: 'x' }),
      client.call('session.readScreen', { sessionId: session.id }),
      client.call('session.attach', { sessionId: session.id, mode: 'drive' }),
    ])
      expect(await failureOf(work)).toBe('unsupported-transport');
    expect(await failureOf(client.call('session.choose', { ...address, choice: 'model', id: 'none' }))).toBe(
      'unknown-choice',
    );
  });

  it('is the only one that takes rules: where nobody would keep them, nothing is started', async () => {
    const interactions: InteractionPolicy = { rules: [{ tool: 'rm', answer: 'refuse' }], deadlineMs: null };
    const launches: [Transport, ParamsInput<'session.spawn'>['launch']][] = [
      ['pty', { kind: 'provider', provider: 'qwen', arguments: [] }],
      ['pipe', { kind: 'command', command: ['cat'] }],
    ];
    for (const [transport, launching] of launches) {
      const asking = client.call('session.spawn', {
        directory: work,
        transport,
        launch: launching,
        interactions,
      });
      expect(await failureOf(asking)).toBe('session-option-unsupported');
    }
    expect((await client.call('session.list', { includeEnded: true })).sessions).toEqual([]);
  });

  it('is told apart from one that is not', async () => {
    const plain = await client.call('session.spawn', {
      directory: work,
      transport: 'pipe',
      launch: { kind: 'command', command: ['cat'] },
    });
    expect(plain.protocol).toBeNull();
    expect(await failureOf(client.call('session.readTimeline', { sessionId: plain.id }))).toBe(
      'unsupported-transport',
    );
    expect(await failureOf(prompt(plain, 'say hello', 'written'))).toBe('prompt-unsupported');
  });

  it('leaves nothing behind when it is removed', async () => {
    const session = await launch();
    await prompt(session, 'ask make', 'accepted');
    await waitUntilAsked(session);
    await prompt(session, 'say later', 'queued');
    await client.call('session.stop', addressOf(session));
    await client.call('session.remove', addressOf(session));
    expect(await asked(undefined, true)).toEqual([]);
    await waitFor(
      () => !readdirSync(join(home.path, 'sessions')).includes(session.id),
      'its directory to go',
    );
  });
});
