/**
 * The Model Context Protocol over standard input and output, one JSON text a line: each message is passed on to `/mcp` of
 * the service, which has the tools. Nothing but answers may be printed.
 */
import { createInterface } from 'node:readline';
import { ConnectionError, failureOf, isOfType, ProblemError } from '../../sdk/problem.ts';
import { Transport } from '../../sdk/transport.ts';
import { CliError, type Run } from '../command.ts';

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const codes = { parse: -32700, refused: -32000 } as const;

type Message = Readonly<Record<string, unknown>>;

export const mcp: Run = async (call) => {
  const options = call.clientOptions();
  const transport = new Transport(options);
  const asked = new Map<string, AbortController>();
  const { terminal } = call;
  if (terminal.canAsk) terminal.note('This is for assistants: messages are read from here; Ctrl-D ends it.');

  async function pass(line: string, message: Message, signal: AbortSignal): Promise<unknown> {
    const bearer = await transport.bearer();
    const headers = {
      ...options.headers,
      ...headersOf(message),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(options.workspace !== undefined && { 'slipway-workspace': options.workspace }),
    };
    let answer: Response;
    try {
      answer = await fetch(`${options.url}/mcp`, { method: 'POST', headers, body: line, signal });
    } catch (cause) {
      signal.throwIfAborted();
      throw new ConnectionError(`${options.url} cannot be reached.`, { cause });
    }
    if (answer.status === 202) return undefined;
    // What the protocol refuses has a status of its own, and is an answer all the same.
    if (!isOfType(answer, 'application/json')) throw await failureOf(answer);
    return JSON.parse(await answer.text());
  }

  async function take(line: string): Promise<void> {
    const message = messageOf(line);
    if (message === undefined) return tell(errorOf(null, codes.parse, 'This is not JSON.'));
    const { id = null, method, params } = message;
    if (method === 'notifications/cancelled')
      return asked.get(JSON.stringify(Object(params).requestId))?.abort();
    const leaving = new AbortController();
    const key = JSON.stringify(id);
    asked.set(key, leaving);
    try {
      const answer = await pass(line, message, leaving.signal);
      if (answer !== undefined) tell(answer);
    } catch (error) {
      // Nobody waits for the answer of what was cancelled, nor for one to a notification.
      if (leaving.signal.aborted || message.id === undefined) return;
      tell(refusal(id, error));
    } finally {
      asked.delete(key);
    }
  }

  const running = new Set<Promise<void>>();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const one = take(line).finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
  return undefined;
};

function messageOf(line: string): Message | undefined {
  try {
    return Object(JSON.parse(line));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Over HTTP the newer revision says in headers, too, what the message says. */
function headersOf({ method, params }: Message): Record<string, string> {
  const { _meta: meta, name } = Object(params);
  const version: unknown = Object(meta)[versionKey];
  if (typeof version !== 'string') return {};
  return {
    'mcp-protocol-version': version,
    'mcp-method': String(method),
    ...(method === 'tools/call' && { 'mcp-name': String(name) }),
  };
}

function refusal(id: unknown, error: unknown): object {
  if (!(error instanceof ProblemError || error instanceof ConnectionError || error instanceof CliError))
    throw error;
  const hint = error instanceof ConnectionError ? undefined : error.hint;
  const data = error instanceof ProblemError ? { code: error.code, requestId: error.requestId } : undefined;
  return errorOf(id, codes.refused, [error.message, hint].filter(Boolean).join(' '), data);
}

function errorOf(id: unknown, code: number, message: string, data?: object): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } };
}

function tell(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
