/** A conversation as it is kept: prompts, messages, tool calls, plans, what they cost. */
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button, Loader } from '@mantine/core';
import type { SeenSession } from '@roost/client/browser';
import type { TokenUsage } from '@roost/protocol';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows } from '../parts/page.tsx';
import { countText } from '../parts/quantities.ts';
import { Status } from '../parts/status.tsx';
import { ChangedLines } from './changed-lines.tsx';
import type { Timeline, TimelineItem, ToolItem } from './timeline-model.ts';
import { toolChange, toolSubject } from './tool-change.ts';
import { askedText } from './asked-text.ts';
import { useTimeline } from './use-timeline.ts';
import styles from './timeline-pane.module.css';

/** Pixels from the end within which the reader counts as being at the end. */
const AT_END_PX = 60;

export function TimelinePane({ session }: { readonly session: SeenSession }) {
  const [from, setFrom] = useState<'newest' | 'start'>('newest');
  const { timeline, isCut, isRead, error } = useTimeline(session.nodeId, session.id, from);
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const onScroll = (): void => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < AT_END_PX;
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, []);
  // Whoever reads further up is left where they are.
  useLayoutEffect(() => {
    if (isAtEnd.current && list.current !== null) list.current.scrollTop = list.current.scrollHeight;
  }, [timeline]);
  return (
    <div className={styles.pane}>
      <div className={styles.list} ref={list} role="log" aria-label="Conversation" tabIndex={0}>
        {isCut && (
          <Button size="xs" variant="default" onClick={() => setFrom('start')}>
            Read it from its beginning
          </Button>
        )}
        {error !== null && <FailureAlert error={error} title="The conversation is not kept up" />}
        {!isRead && error === null && <LoadingRows rows={3} />}
        {isRead && timeline.items.length === 0 && <Empty title="Nothing was said yet" />}
        {timeline.items.map((item) => (
          <Item key={item.key} item={item} />
        ))}
        {timeline.isWorking && !isAsking(timeline) && <Status text="working" tone="busy" isMoving />}
      </div>
      <UsageLine timeline={timeline} />
    </div>
  );
}

function isAsking({ items }: Timeline): boolean {
  return items.some((item) => item.kind === 'request' && item.outcome === null);
}

function Item({ item }: { readonly item: TimelineItem }) {
  const shown = <ItemBody item={item} />;
  return item.agentId === null ? shown : <div className={styles.sub}>{shown}</div>;
}

function ItemBody({ item }: { readonly item: TimelineItem }) {
  switch (item.kind) {
    case 'prompt':
      return <div className={styles.prompt}>{item.text ?? 'A prompt'}</div>;
    case 'message':
      return <div className={styles.message}>{item.text}</div>;
    case 'thinking':
      return (
        <details className={styles.fold}>
          <summary>
            <span className={styles.toolTitle}>Thought</span>
          </summary>
          <div className={styles.text}>{item.text}</div>
        </details>
      );
    case 'tool':
      return <Tool item={item} />;
    case 'request':
      return (
        <div className={styles.note} data-level={item.outcome === null ? 'warning' : 'info'}>
          {askedText(item.request)}: {item.outcome ?? 'waits for an answer'}
        </div>
      );
    case 'plan':
      return (
        <ol className={styles.plan} aria-label="Plan">
          {item.entries.map(({ text, status }, index) => (
            <li key={index} className={PLAN_CLASSES[status]}>
              {text}
              {status === 'completed' && <span className="roost-hidden"> (done)</span>}
            </li>
          ))}
        </ol>
      );
    case 'turn-end':
      return (
        <div className={styles.note} data-level={item.outcome === 'failed' ? 'error' : 'warning'}>
          The turn {TURN_ENDS[item.outcome]}
          {item.fault === null ? '' : `: ${item.fault}`}
        </div>
      );
    case 'note':
      return (
        <div className={styles.note} data-level={item.level}>
          {item.text}
        </div>
      );
  }
}

const PLAN_CLASSES = { pending: undefined, 'in-progress': styles.planNow, completed: styles.planDone };
const TURN_ENDS = {
  completed: 'is over',
  interrupted: 'was interrupted',
  failed: 'failed',
  refused: 'was refused',
  limit: 'reached a limit of the model',
} as const;
const OUTCOMES = {
  ok: { text: 'ok', tone: 'ok' },
  error: { text: 'error', tone: 'bad' },
  refused: { text: 'refused', tone: 'wait' },
  interrupted: { text: 'interrupted', tone: 'wait' },
} as const;

function Tool({ item }: { readonly item: ToolItem }) {
  const change = toolChange(item.input);
  return (
    <details className={styles.fold}>
      <summary>
        <span className={styles.toolName}>{item.tool}</span>
        <span className={styles.toolTitle}>
          {firstLine(item.title ?? toolSubject(item.input) ?? item.input)}
        </span>
        <span className={styles.took}>
          {item.outcome === null ? (
            <Loader size={12} aria-label="runs" />
          ) : (
            <Status {...OUTCOMES[item.outcome]} />
          )}
        </span>
      </summary>
      <pre className={styles.text} tabIndex={0} aria-label={`Input of ${item.tool}`}>
        {change === null ? prettyJson(item.input) : <ChangedLines lines={change.lines} />}
      </pre>
      {item.output !== '' && (
        <pre className={styles.text} tabIndex={0} aria-label={`Output of ${item.tool}`}>
          {item.output}
        </pre>
      )}
    </details>
  );
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function UsageLine({ timeline: { model, usage } }: { readonly timeline: Timeline }) {
  const whole = usage.thread ?? usage.turn ?? usage.call;
  if (model === null && whole === undefined) return null;
  return (
    <div className={`${styles.foot} roost-numbers`}>
      {model !== null && <span>{model}</span>}
      {whole !== undefined && usageTexts(whole).map((text) => <span key={text}>{text}</span>)}
    </div>
  );
}

const SCOPES = { call: 'last call', turn: 'this turn', thread: 'so far' } as const;

function usageTexts(usage: TokenUsage): string[] {
  const { inputTokens, cacheReadTokens, outputTokens, contextWindow, contextUsed, costUsd, scope } = usage;
  return [
    ...(inputTokens === null ? [] : [`${countText(inputTokens)} in`]),
    ...(cacheReadTokens === null ? [] : [`${countText(cacheReadTokens)} from cache`]),
    ...(outputTokens === null ? [] : [`${countText(outputTokens)} out`]),
    ...(contextWindow === null || contextUsed === null
      ? []
      : [`${Math.round((100 * contextUsed) / contextWindow)} % of the window`]),
    ...(costUsd === null ? [] : [`$${costUsd.toFixed(costUsd < 1 ? 3 : 2)}`]),
    SCOPES[scope],
  ];
}
