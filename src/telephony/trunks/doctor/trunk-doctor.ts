/** Trunk doctor: asks a carrier's proxy step by step, and says what is wrong and what to do. */
import type {
  TrunkCheck,
  TrunkCheckProgress,
  TrunkCheckStep,
  TrunkCheckWatch,
} from '../../../domain/dialing/trunk.ts';
import { hostPortOf, type Trunk } from '../trunks.ts';
import type { DoctorClient, ProxyPlace } from './doctor-client.ts';
import {
  addressStep,
  certificateStep,
  clockStep,
  codecsStep,
  optionsStep,
  registrationStep,
} from './doctor-findings.ts';

interface DoctorParts {
  readonly client: DoctorClient;
  /** Our clock. */
  readonly now: () => Date;
  readonly onProgress?: TrunkCheckWatch['onProgress'];
}

/**
 * Checks a trunk: `dns`, `connection`, `certificate` with TLS, `options`, `registration` where it registers, `address`, `codecs`, `clock`. A step
 * that the ones before it make impossible is skipped, and left out of the result.
 */
export async function checkTrunk(
  trunk: Trunk,
  { client, now, onProgress = () => undefined }: DoctorParts,
): Promise<TrunkCheck> {
  const steps = new CheckSteps(stepsOf(trunk), onProgress);
  steps.begin('dns');
  const [place] = await client.locate();
  steps.found(dnsStep(trunk, place));
  if (place === undefined) return steps.end();
  steps.begin('connection');
  const problem = await client.connectProblem(place);
  steps.found(connectionStep(trunk, place, problem));
  if (problem !== undefined) return steps.end();
  if (isOverTls(trunk)) steps.begin('certificate');
  const certificate = await client.certificate(place);
  if (certificate !== undefined) steps.found(certificateStep(trunk, certificate, now()));
  if (certificate?.problem !== undefined) return steps.end();
  steps.begin('options');
  const options = await client.options();
  steps.found(optionsStep(trunk, options));
  if (trunk.register) steps.begin('registration');
  const registration = trunk.register ? await client.bindings() : undefined;
  if (trunk.register) steps.found(registrationStep(trunk, registration));
  const reply = options ?? registration;
  if (reply !== undefined) {
    steps.found(addressStep(reply));
    steps.found(codecsStep(trunk, options?.sdp));
    steps.found(clockStep(reply.date, now()));
  }
  return steps.end();
}

/** The steps of a check, in their order. */
function stepsOf(trunk: Trunk): readonly string[] {
  return [
    ...['dns', 'connection'],
    ...(isOverTls(trunk) ? ['certificate'] : []),
    'options',
    ...(trunk.register ? ['registration'] : []),
    ...['address', 'codecs', 'clock'],
  ];
}

function isOverTls({ proxy }: Trunk): boolean {
  return proxy.transport === 'tls';
}

/** What is known of each step so far. */
class CheckSteps {
  readonly #onProgress: TrunkCheckWatch['onProgress'];
  readonly #found: TrunkCheckStep[] = [];
  #steps: readonly TrunkCheckProgress[];

  constructor(names: readonly string[], onProgress: TrunkCheckWatch['onProgress']) {
    this.#onProgress = onProgress;
    this.#steps = names.map((step) => ({ step, state: 'waiting', message: null }));
  }

  begin(step: string): void {
    this.#change((known) => (known.step === step ? { ...known, state: 'running' } : known));
  }

  found(finding: TrunkCheckStep): void {
    this.#found.push(finding);
    const { step, ok, message } = finding;
    const state = ok ? 'ok' : 'failed';
    this.#change((known) => (known.step === step ? { step, state, message } : known));
  }

  /** Skips what has no finding. */
  end(): TrunkCheck {
    this.#change((known) => (known.message === null ? { ...known, state: 'skipped' } : known));
    return { ok: this.#found.every(({ ok }) => ok), steps: this.#found };
  }

  #change(change: (known: TrunkCheckProgress) => TrunkCheckProgress): void {
    this.#steps = this.#steps.map(change);
    this.#onProgress(this.#steps);
  }
}

function dnsStep({ proxy }: Trunk, place: ProxyPlace | undefined): TrunkCheckStep {
  const { host } = proxy;
  const message =
    place === undefined
      ? `"${host}" has no address: check the spelling of proxy, and whether this machine can resolve names`
      : `"${host}" is at ${place.address}, port ${place.port}`;
  return { step: 'dns', ok: place !== undefined, message };
}

function connectionStep(
  { proxy }: Trunk,
  { address, port }: ProxyPlace,
  problem: string | undefined,
): TrunkCheckStep {
  const place = `${address}, port ${port}`;
  const transport = proxy.transport.toUpperCase();
  const done =
    transport === 'UDP' ? 'UDP needs no connection' : `${transport} connects to ${place}`;
  const message =
    problem === undefined
      ? done
      : `${transport} cannot reach ${hostPortOf(proxy)} at ${place}: ${problem}`;
  return { step: 'connection', ok: problem === undefined, message };
}
