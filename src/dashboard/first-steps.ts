/** Steps to set up a new server until it answers real calls; pure */
import type { AgentItem, Readiness } from './api-types.ts';

export interface ServerFacts {
  readonly engines: Readiness['engines'];
  /** The newest. */
  readonly agents: readonly Pick<AgentItem, 'id' | 'name' | 'phoneNumber'>[];
  readonly callCount: number;
  readonly trunkCount: number;
  readonly endpointCount: number;
}

export interface Step {
  readonly name: 'models' | 'agent' | 'talk' | 'number' | 'webhook';
  readonly isDone: boolean;
  /** Address of the step's page; undefined for the telephone of this page. */
  readonly address: string | undefined;
}

/** In the order in which they are best done. */
export function stepsOf(facts: ServerFacts): readonly Step[] {
  const { engines, agents, callCount, trunkCount, endpointCount } = facts;
  const hasNumber = trunkCount > 0 || agents.some(({ phoneNumber }) => phoneNumber !== null);
  return [
    {
      name: 'models',
      isDone: engines.every(({ standIn }) => standIn === null),
      address: '#/system',
    },
    { name: 'agent', isDone: agents.length > 0, address: '#/agents/new' },
    {
      name: 'talk',
      isDone: callCount > 0,
      address: agents.length === 0 ? '#/agents/new' : undefined,
    },
    { name: 'number', isDone: hasNumber, address: '#/trunks' },
    { name: 'webhook', isDone: endpointCount > 0, address: '#/webhooks' },
  ];
}

interface Problem {
  readonly name: string;
  readonly state: string;
}

/** Failed engines, and carriers and checks that are not ready; stand-ins are not among them. */
export function problemsOf({ engines, carriers, checks }: Readiness): readonly Problem[] {
  return [
    ...engines
      .filter(({ state }) => state === 'failed')
      .map(({ engine, reason }) => ({ name: engine, state: reason })),
    ...carriers.filter(({ isReady }) => !isReady),
    ...checks.filter(({ isOk }) => !isOk),
  ].map(({ name, state }) => ({ name, state }));
}
