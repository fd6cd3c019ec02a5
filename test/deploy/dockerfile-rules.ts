/** What must hold for an image that strangers run: the rules of hadolint that concern ours, and some of our own. */
import {
  copyOf,
  execForm,
  type Instruction,
  type Stage,
  stagesOf,
  visibleFiles,
} from '../support/server/dockerfile.ts';

export interface BuildContext {
  /** Folder that the image is built in. */
  readonly root: string;
  readonly dockerignore: string;
}

/** Every breach, named by its rule. */
export function dockerfileProblems(text: string, context: BuildContext): string[] {
  const stages = stagesOf(text);
  const last = stages.at(-1);
  if (last === undefined) return ['no stage'];
  const all = stages.flatMap(({ instructions }) => instructions);
  return [
    ...stages.flatMap((stage) => baseProblems(stage, stages)),
    ...stages.flatMap((stage) => packageProblems(stage, last)),
    ...all.flatMap((instruction) => RULES.flatMap((rule) => rule(instruction))),
    ...all.flatMap((instruction) => copyProblems(instruction, context)),
    ...imageProblems(last.instructions),
  ];
}

/** `image:1.2.3`, with more after it; or a digest. */
function baseProblems({ base }: Stage, stages: readonly Stage[]): string[] {
  if (stages.some(({ name }) => name === base)) return [];
  if (/@sha256:[0-9a-f]{64}$/.test(base)) return [];
  return /:\d+\.\d+\.\d+(-[\w.-]+)?$/.test(base) ? [] : ['base image without a whole version'];
}

/** What builds may need more than what runs, as long as it stays in its stage. */
function packageProblems(stage: Stage, last: Stage): string[] {
  const isTaken = last.instructions.some(({ name, args }) => {
    const { from, sources } = copyOf(args);
    const hasPackages = sources.some((source) => /(^|\/)(app|node_modules)\/?$/.test(source));
    return name === 'COPY' && from === stage.name && hasPackages;
  });
  if (stage !== last && !isTaken) return [];
  return stage.instructions.flatMap(({ name, args }) =>
    name === 'RUN' && /\bnpm ci\b/.test(args) && !args.includes('--omit=dev')
      ? ['development packages']
      : [],
  );
}

const RULES: readonly ((instruction: Instruction) => string[])[] = [
  ({ name }) => (name === 'ADD' ? ['ADD instead of COPY'] : []),
  ({ name, args }) => (name === 'RUN' ? runProblems(args) : []),
  ({ name, args }) =>
    /^(ENV|ARG)$/.test(name) &&
    /\w*(SECRET|PASSWORD|TOKEN|API_KEY|LIVE_KEY|TEST_KEY)\w*/i.test(args)
      ? ['secret in the image']
      : [],
  ({ name, args }) => (name === 'WORKDIR' && !args.startsWith('/') ? ['WORKDIR is relative'] : []),
];

function runProblems(args: string): string[] {
  const installs = /\bapt-get\b.*\binstall\b/.test(args);
  return [
    ...(installs && !args.includes('--no-install-recommends') ? ['apt-get with recommends'] : []),
    ...(installs && !/install .*-y|install -y/.test(args) ? ['apt-get asks'] : []),
    ...(installs && !args.includes('rm -rf /var/lib/apt/lists/*') ? ['apt lists stay'] : []),
    ...(/\bapt\s|\bsudo\b/.test(args) ? ['apt or sudo'] : []),
    ...(/\bapt-get\b.*\b(dist-)?upgrade\b/.test(args) ? ['upgrade of the base'] : []),
    ...(/\b(curl|wget)\b/.test(args) ? ['download that nothing checks'] : []),
    ...(/(^|&& )cd\s/.test(args) ? ['cd instead of WORKDIR'] : []),
    ...(/\bnpm (install|i|add)\b/.test(args) ? ['npm without its lock file'] : []),
    ...(/\bnpm ci\b/.test(args) && !args.includes('--ignore-scripts') ? ['install scripts'] : []),
  ];
}

function copyProblems({ name, args }: Instruction, { root, dockerignore }: BuildContext): string[] {
  const { from, sources } = copyOf(args);
  if (name !== 'COPY' || from !== undefined) return [];
  return sources.flatMap((source) => {
    if (source === '.') return ['COPY of everything'];
    const files = visibleFiles(root, source, dockerignore);
    return files.length === 0 ? [`COPY of what is hidden or missing: ${source}`] : [];
  });
}

/** What the image is run as. */
function imageProblems(instructions: readonly Instruction[]): string[] {
  const argsOf = (wanted: string) =>
    instructions.filter(({ name }) => name === wanted).map(({ args }) => args);
  const [commands, entries, checks] = [argsOf('CMD'), argsOf('ENTRYPOINT'), argsOf('HEALTHCHECK')];
  const user = argsOf('USER').at(-1) ?? 'root';
  const isExec = (args: string) => execForm(args) !== undefined;
  return [
    ...(/^[1-9]\d*:[1-9]\d*$/.test(user) ? [] : ['runs as root, or as a name']),
    ...(commands.length === 1 ? [] : ['not one CMD']),
    ...([...commands, ...entries].every(isExec) ? [] : ['shell form gets no signals']),
    ...(checks.length === 1 && /^--.* CMD \[/.test(checks[0] ?? '') ? [] : ['no health check']),
    ...(argsOf('STOPSIGNAL').length === 1 ? [] : ['no STOPSIGNAL']),
  ];
}
