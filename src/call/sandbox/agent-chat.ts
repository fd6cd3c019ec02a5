/** Text chat with an agent, with the prompt, tools and model of its calls. */

import { HistoryKeeper } from '../../conversation/history/history-keeper.ts';
import { messagesFor, noteOf, prefixFor } from '../../conversation/history/prompt.ts';
import { KnowledgeLookup } from '../../conversation/knowledge-lookup.ts';
import { speakable } from '../../conversation/reply/clause-splitter.ts';
import { CALLS_MAX, CHARACTERS_MAX } from '../../conversation/reply/llm-stream.ts';
import { rulesFor } from '../../conversation/turn/turn-rules.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import type { AgentChat, ChatLine, ChatReply } from '../../domain/agent/agent-version.ts';
import { NO_VARIABLES } from '../../domain/agent/prompt-variables.ts';
import type { PassageSearch } from '../../domain/knowledge/knowledge.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type Clock, TimeLimit } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { KnowledgeCounts } from '../../lib/metrics/model-metrics.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { ChatMessage, LanguageModel, ModelEvent, ToolCall } from '../../llm/language-model.ts';
import type { Tool } from '../../tool/tool.ts';
import { toolboxFor } from '../../tool/toolbox.ts';
import { briefOf } from '../session/call-parts.ts';
import { transferRulesOf } from '../session/transfer-cap.ts';

/** Answers that are made at one time: calls come first. */
const CHATS_MAX = 2;

const REPLY_MS_MAX = 30_000;

interface Parts {
  readonly modelOf: (agent: Agent) => LanguageModel;
  /** The customer's own tools that the agent lists. */
  readonly toolsOf: (agent: Agent) => Promise<readonly Tool[]>;
  /** The search of the agent's documents; undefined where it has none. */
  readonly knowledgeOf: (agent: Agent) => Promise<PassageSearch | undefined>;
  readonly counts: KnowledgeCounts;
  readonly clock: Clock;
  readonly log: Logger;
}

type Asked = Parameters<AgentChat['reply']>[0];

/** Creates the text chat: answers the messages of an agent's caller without a call. */
export function agentChat(parts: Parts): AgentChat {
  let chats = 0;
  return {
    reply: async (asked) => {
      if (chats >= CHATS_MAX) return null;
      chats += 1;
      try {
        return await reply(asked, parts);
      } finally {
        chats -= 1;
      }
    },
  };
}

async function reply(asked: Asked, parts: Parts): Promise<ChatReply> {
  const { clock, log } = parts;
  const model = parts.modelOf(asked.agent);
  const beganAtMs = clock.nowMs();
  const reason = 'the language model took too long; retry later';
  using limit = new TimeLimit(clock, REPLY_MS_MAX, { signal: asked.signal, reason });
  const { signal } = limit;
  try {
    const custom = await parts.toolsOf(asked.agent);
    const request = await requestOf(asked, { ...parts, model }, custom);
    const sinceMs = () => Math.round(clock.nowMs() - beganAtMs);
    const preparedMs = sinceMs();
    let firstTokenMs: number | undefined;
    const { text, calls } = await collect(model.stream({ ...request, signal }), () => {
      firstTokenMs ??= sinceMs();
    });
    return {
      text: speakable(text),
      toolCalls: calls.map(({ name, arguments: given }) => ({ name, arguments: given })),
      model: model.name,
      isPromptUsed: model.ignoresPrompts !== true,
      preparedMs,
      firstTokenMs: firstTokenMs ?? sinceMs(),
      tookMs: sinceMs(),
    };
  } catch (error) {
    if (asked.signal.aborted) throw unanswered('the client is gone');
    if (limit.isOver) throw unanswered(reason);
    log.warn(
      { agentId: asked.agent.id, model: model.name, reason: messageOf(error) },
      'language model failed in a chat',
    );
    throw unanswered('the language model failed; retry later');
  }
}

/** Request that a call of the agent would send for the same words. */
async function requestOf(
  { agent, account, messages }: Asked,
  parts: Parts & { readonly model: LanguageModel },
  custom: readonly Tool[],
) {
  const brief = briefOf(agent, { ...NO_VARIABLES, overrides: {}, direction: 'inbound' });
  const transferRules = transferRulesOf(agent, brief, account);
  const tools = toolboxFor({
    names: agent.tools,
    callTools: custom,
    clock: parts.clock,
    transferRules,
  });
  const rules = rulesFor({ brief, tools, clock: parts.clock });
  const greeting = messages[0]?.role === 'agent' ? [] : prefixFor(rules).slice(1);
  const asked = messagesFor(rules, [...greeting, ...messages.map(chatMessageOf)]);
  const history = new HistoryKeeper({
    model: parts.model,
    clock: parts.clock,
    log: parts.log,
    tools,
  });
  const search = await parts.knowledgeOf(agent);
  const knowledge = search && new KnowledgeLookup({ ...parts, search });
  const passages = (await knowledge?.passagesFor(asked)) ?? [];
  const { text: note } = noteOf(passages, history.roomChars);
  const { messages: fitting, onUsage } = history.fit(asked, note);
  return { messages: fitting, onUsage, tools: tools.descriptions };
}

function chatMessageOf({ role, text }: ChatLine): ChatMessage {
  return { role: role === 'agent' ? 'assistant' : 'user', content: text };
}

/** Stops reading the model where a call would: at an answer that is too long, or at too many tool calls. */
async function collect(events: AsyncIterable<ModelEvent>, onEvent: () => void) {
  let text = '';
  const calls: ToolCall[] = [];
  for await (const event of events) {
    onEvent();
    if (event.kind === 'text') text += event.text;
    else calls.push(event.call);
    if (text.length > CHARACTERS_MAX || calls.length >= CALLS_MAX) break;
  }
  return { text, calls };
}

function unanswered(why: string): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', `Cannot answer as the agent: ${why}`);
}
