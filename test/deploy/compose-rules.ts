/** Rules of the compose file: no privileges, no floating image tag, no reference to a missing setting, secret or volume. */

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly privileged?: boolean;
  readonly read_only?: boolean;
  readonly cap_add?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly network_mode?: string;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition?: string }>>;
  readonly stop_grace_period?: string;
  readonly entrypoint?: readonly string[];
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file?: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export interface ComposeContext {
  /** Whether a service of this image has a setting of this name. */
  knows(image: string, name: string): boolean;
  exists(path: string): boolean;
}

/** Every breach, as `service: rule`. */
export function composeProblems(compose: Compose, context: ComposeContext): string[] {
  return Object.entries(compose.services).flatMap(([name, service]) =>
    [
      ...safetyProblems(service),
      ...imageProblems(service),
      ...settingProblems(service, context),
      ...mountProblems(service, compose, context),
      ...lifeProblems(service, compose),
    ].map((problem) => `${name}: ${problem}`),
  );
}

function safetyProblems(service: Service): string[] {
  const published = (service.ports ?? []).filter((port) => !port.startsWith('127.0.0.1:'));
  return [
    ...(service.privileged === true ? ['privileged'] : []),
    ...(service.read_only === true ? [] : ['may write to its image']),
    ...(service.cap_drop?.join() === 'ALL' ? [] : ['keeps capabilities']),
    ...(service.cap_add === undefined ? [] : ['adds capabilities']),
    ...(service.security_opt?.includes('no-new-privileges:true') ? [] : ['may gain privileges']),
    ...(service.mem_limit === undefined ? ['no limit of memory'] : []),
    ...(service.pids_limit === undefined ? ['no limit of processes'] : []),
    ...(service.logging?.options?.['max-size'] === undefined ? ['log without an end'] : []),
    ...(published.length > 0 ? ['port open to everybody'] : []),
  ];
}

/** Others' images by a whole version; what we build, by ours. */
function imageProblems({ image = '' }: Service): string[] {
  return /^[\w./-]+:v?\d+\.\d+\.\d+$/.test(image) ? [] : ['image without a whole version'];
}

const SECRET = /(SECRET|PASSWORD|TOKEN|_KEY)$/;

function settingProblems(
  { image = '', environment = {} }: Service,
  context: ComposeContext,
): string[] {
  return Object.entries(environment).flatMap(([name, value]) => [
    ...(context.knows(image, name) ? [] : [`unknown setting ${name}`]),
    // Without a value it is the operator's own, from .env.
    ...(SECRET.test(name) && value !== null ? [`secret in the environment: ${name}`] : []),
  ]);
}

function mountProblems(service: Service, compose: Compose, context: ComposeContext): string[] {
  const { volumes = [], secrets = [], environment = {}, entrypoint = [] } = service;
  const mounts = volumes.map((volume) => volume.split(':'));
  const files = [...Object.values(environment), ...entrypoint]
    .join(' ')
    .match(/(?<=\/run\/secrets\/)\w+/g);
  return [
    ...mounts.flatMap(([source = '', , mode]) => {
      if (!source.startsWith('./')) return source in compose.volumes ? [] : [`no volume ${source}`];
      if (!context.exists(source)) return [`nothing at ${source}`];
      return mode === 'ro' ? [] : [`may write to ${source}`];
    }),
    ...secrets.flatMap((name) =>
      compose.secrets[name]?.file === undefined ? [`no file of the secret ${name}`] : [],
    ),
    ...(files ?? []).filter((name) => !secrets.includes(name)).map((name) => `not given: ${name}`),
  ];
}

function lifeProblems(service: Service, compose: Compose): string[] {
  const { healthcheck, depends_on: needs = {}, environment = {} } = service;
  const endsItself = service.restart === 'no';
  const wrong = Object.entries(needs).filter(([name, { condition }]) => {
    const other = compose.services[name];
    const expected = other?.restart === 'no' ? 'service_completed_successfully' : 'service_healthy';
    return other === undefined || condition !== expected;
  });
  const drainSeconds = Number(environment.DRAIN_TIMEOUT_SECONDS ?? 0);
  const graceSeconds = secondsOf(service.stop_grace_period ?? '10s');
  return [
    ...(endsItself || healthcheck?.test?.[0] === 'CMD' ? [] : ['no health check']),
    ...(service.restart === undefined ? ['not started again'] : []),
    ...wrong.map(([name]) => `waits wrongly for ${name}`),
    ...(graceSeconds > drainSeconds + 5 || drainSeconds === 0 ? [] : ['is killed while it drains']),
  ];
}

function secondsOf(text: string): number {
  const [, amount, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  return Number(amount) * { s: 1, m: 60, h: 3600 }[(unit ?? 's') as 's' | 'm' | 'h'];
}
