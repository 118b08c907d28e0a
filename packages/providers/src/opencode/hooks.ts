/**
 * Hooks of opencode 1.18.33: a plugin, named by settings that one launch adds to those of its person. It runs inside opencode and
 * leaves the reports itself, as the shell command of other agents does. Commands that opencode runs for the model do not get the
 * variable: an opencode among them is not this session. Sessions of sub-agents are left out, but for what they ask.
 */
import type { AgentEvent } from '@roost/protocol';
import { eventJson, eventName, eventSentence, eventText } from '../agent-text.ts';
import { textOf, toolTitle, turnOver } from '../hook-words.ts';
import { REPORT_SUFFIX, REPORTS_DIRECTORY, type ProviderHooks } from '../hook-report.ts';
import { isObject, type JsonObject } from '../json-object.ts';

const VARIABLE = 'OPENCODE_CONFIG_CONTENT';
/** Characters of a prompt in a report. */
const PROMPT_CHARACTERS_MAX = 64 * 1024;

/** Of opencode's own events, passed on as they are. */
const EVENTS = ['session.created', 'session.error', 'session.idle'] as const;
/** The same, also of sub-agents. */
const ASKING_EVENTS = [
  'permission.asked',
  'permission.replied',
  'question.asked',
  'question.replied',
  'question.rejected',
] as const;

const PLUGIN = `// Written by Roost at each start of its node. Leaves reports of the session for it; does nothing elsewhere.
import { existsSync, renameSync, writeFileSync } from 'node:fs';

const { ROOST_HOME: home, ROOST_SESSION_ID: id, ${VARIABLE}: own } = process.env;
const directory = \`\${home}/sessions/\${id}/${REPORTS_DIRECTORY}\`;
const events = new Set(${JSON.stringify(EVENTS)});
const asking = new Set(${JSON.stringify(ASKING_EVENTS)});
const children = new Set();
const failed = new Set();
let count = 0;

function report(type, properties) {
  try {
    const path = \`\${directory}/\${++count}.\${process.pid}\`;
    writeFileSync(\`\${path}.part\`, JSON.stringify({ type, properties }), { mode: 0o600 });
    renameSync(\`\${path}.part\`, \`\${path}${REPORT_SUFFIX}\`);
  } catch {}
}

export const RoostReports = async () => {
  if (!home || !id || !existsSync(directory)) return {};
  return {
    event: async ({ event }) => {
      const { type, properties } = event ?? {};
      const session = properties?.sessionID;
      if (type === 'session.created' && properties?.info?.parentID) children.add(properties.info.id);
      if (type === 'session.error') failed.add(session);
      // The end of a failed turn has been told.
      if (type === 'session.idle' && failed.delete(session)) return;
      if (asking.has(type) || (events.has(type) && !children.has(session))) report(type, properties);
    },
    'chat.message': async (input, output) => {
      if (children.has(input?.sessionID)) return;
      const texts = (output?.parts ?? []).filter((part) => part?.type === 'text' && !part.synthetic);
      const text = texts.map((part) => part.text).join('\\n').slice(0, ${PROMPT_CHARACTERS_MAX});
      report('chat.message', { sessionID: input?.sessionID, text });
    },
    'shell.env': async (_input, output) => {
      if (output?.env && output.env.${VARIABLE} === undefined && process.env.${VARIABLE} === own)
        output.env.${VARIABLE} = '';
    },
  };
};
`;

export const OPENCODE_HOOKS: ProviderHooks = {
  file: { name: 'opencode-plugin.js', content: PLUGIN },
  given: {
    kind: 'environment',
    variable: VARIABLE,
    value: '{"plugin":["{url}"]}',
    unless: { variables: [], files: [] },
  },
  read: readOpencodeReport,
};

function readOpencodeReport(report: unknown): readonly AgentEvent[] {
  if (!isObject(report) || !isObject(report.properties)) return [];
  const { properties } = report;
  const providerSessionId = eventName(textOf(properties, 'sessionID'));
  const identity: readonly AgentEvent[] =
    providerSessionId === null ? [] : [{ kind: 'identity', providerSessionId }];
  switch (textOf(report, 'type')) {
    case 'session.created':
      return [
        { kind: 'session-started', providerSessionId, model: modelOf(properties), version: null },
        ...identity,
      ];
    // A session that is run on is told by its first prompt.
    case 'chat.message':
      return [...identity, { kind: 'turn-started', prompt: eventText(textOf(properties, 'text') ?? '') }];
    case 'permission.asked':
      return [permission(properties)];
    case 'question.asked':
      return [question(properties)];
    case 'permission.replied':
      return settled(properties, textOf(properties, 'reply') === 'reject' ? 'refused' : 'approved');
    case 'question.replied':
      return settled(properties, 'answered');
    case 'question.rejected':
      return settled(properties, 'refused');
    case 'session.error':
      return [failed(properties.error)];
    case 'session.idle':
      return [turnOver('completed')];
    default:
      return [];
  }
}

function modelOf({ info }: JsonObject): string | null {
  const model = isObject(info) && isObject(info.model) ? info.model : {};
  return eventName(textOf(model, 'id'));
}

function permission(asked: JsonObject): AgentEvent {
  const tool = eventName(textOf(asked, 'permission')) ?? 'permission';
  const call = isObject(asked.tool) ? asked.tool : {};
  return {
    kind: 'interaction-requested',
    requestId: eventName(textOf(asked, 'id')) ?? tool,
    interaction: 'approval',
    tool,
    toolId: eventName(textOf(call, 'callID')),
    title: eventSentence(toolTitle(tool, asked.metadata)),
    detail: eventJson(asked.metadata),
    options: [],
  };
}

function question(asked: JsonObject): AgentEvent {
  const questions: readonly unknown[] = Array.isArray(asked.questions) ? asked.questions : [];
  const first = questions.find(isObject);
  return {
    kind: 'interaction-requested',
    requestId: eventName(textOf(asked, 'id')) ?? 'question',
    interaction: 'question',
    tool: 'question',
    toolId: null,
    title: eventSentence((first && textOf(first, 'question')) ?? 'question'),
    detail: eventJson(questions),
    options: [],
  };
}

function settled(
  properties: JsonObject,
  outcome: 'approved' | 'refused' | 'answered',
): readonly AgentEvent[] {
  const requestId = eventName(textOf(properties, 'requestID'));
  return requestId === null ? [] : [{ kind: 'interaction-settled', requestId, outcome }];
}

function failed(error: unknown): AgentEvent {
  const about = isObject(error) ? error : {};
  const name = eventName(textOf(about, 'name'));
  if (name === 'MessageAbortedError') return turnOver('interrupted');
  const message = isObject(about.data) ? textOf(about.data, 'message') : null;
  return {
    kind: 'turn-finished',
    outcome: 'failed',
    stopReason: name,
    fault: eventSentence(message ?? name ?? 'the turn failed'),
  };
}
