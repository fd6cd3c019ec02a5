/** Trunk doctor: asks a carrier's proxy step by step, and says what is wrong and what to do. */
import type { TrunkCheck, TrunkCheckStep } from '../../../domain/dialing/trunk.ts';
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

/**
 * Checks a trunk: `dns`, `connection`, `certificate` with TLS, `options`, `registration` where it registers, `address`, `codecs`, `clock`. A step
 * that the ones before it make impossible is left out.
 *
 * @param now our clock.
 */
export async function checkTrunk(
  trunk: Trunk,
  { client, now }: { readonly client: DoctorClient; readonly now: () => Date },
): Promise<TrunkCheck> {
  const steps: TrunkCheckStep[] = [];
  const [place] = await client.locate();
  steps.push(dnsStep(trunk, place));
  if (place === undefined) return checkOf(steps);
  const problem = await client.connectProblem(place);
  steps.push(connectionStep(trunk, place, problem));
  if (problem !== undefined) return checkOf(steps);
  const certificate = await client.certificate(place);
  if (certificate !== undefined) steps.push(certificateStep(trunk, certificate, now()));
  if (certificate?.problem !== undefined) return checkOf(steps);
  const options = await client.options();
  steps.push(optionsStep(trunk, options));
  const registration = trunk.register ? await client.bindings() : undefined;
  if (trunk.register) steps.push(registrationStep(trunk, registration));
  const reply = options ?? registration;
  if (reply !== undefined) {
    steps.push(addressStep(reply), codecsStep(trunk, options?.sdp), clockStep(reply.date, now()));
  }
  return checkOf(steps);
}

function checkOf(steps: readonly TrunkCheckStep[]): TrunkCheck {
  return { ok: steps.every(({ ok }) => ok), steps };
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
