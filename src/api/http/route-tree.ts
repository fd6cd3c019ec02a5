/** Finds the route for a method and a path; pure */
import { tryDecodeURIComponent } from 'hono/utils/url';

export interface Found<Route> {
  readonly route: Route;
  /** What stands in the place of each parameter, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

interface Node<Route> {
  /** Such as `/api/agents/{agentId}`; undefined where no path ends. */
  path?: string;
  /** Names of the path's parameters, and which segments they are. */
  parameters: readonly (readonly [name: string, segment: number])[];
  readonly routes: Map<string, Route>;
  readonly fixed: Map<string, Node<Route>>;
  /** The segment that may be anything. */
  any?: Node<Route>;
}

/** Routes by the segments of their paths. A segment that is named goes before one that may be anything. */
export class RouteTree<Route> {
  readonly #root: Node<Route> = newNode();

  /**
   * @param path such as `/api/agents/{agentId}`.
   * @throws {TypeError} when there is one already, or one whose parameters have other names.
   */
  add(method: string, path: string, route: Route): void {
    let node = this.#root;
    for (const segment of path.split('/')) node = childFor(node, segment);
    if (node.routes.has(method) || (node.path ?? path) !== path) {
      throw new TypeError(`Cannot add the route "${method} ${path}": there is one already`);
    }
    node.path = path;
    node.parameters = parametersOf(path);
    node.routes.set(method, route);
  }

  find(method: string, path: string): Found<Route> | undefined {
    const segments = path.split('/');
    const node = search(this.#root, segments, 0, (found) => found.routes.has(method));
    const route = node?.routes.get(method);
    if (node === undefined || route === undefined) return undefined;
    return { route, params: paramsOf(node.parameters, segments) };
  }

  /** The methods that a path knows, sorted. Whoever answers GET answers HEAD. */
  methodsOf(path: string): readonly string[] {
    const nodes: Node<Route>[] = [];
    search(this.#root, path.split('/'), 0, (node) => {
      if (node.path !== undefined) nodes.push(node);
      return false;
    });
    // A path of its own is no id that another path may have there, such as `/api/calls/outbound`.
    const own = nodes.filter((node) => node.path === path);
    const methods = new Set(
      (own.length > 0 ? own : nodes).flatMap(({ routes }) => [...routes.keys()]),
    );
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].sort();
  }
}

function newNode<Route>(): Node<Route> {
  return { parameters: [], routes: new Map(), fixed: new Map() };
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function childFor<Route>(node: Node<Route>, segment: string): Node<Route> {
  if (isParameter(segment)) {
    node.any ??= newNode();
    return node.any;
  }
  const child = node.fixed.get(segment) ?? newNode<Route>();
  node.fixed.set(segment, child);
  return child;
}

/** The first node where the segments end that `isIt`. */
function search<Route>(
  node: Node<Route>,
  segments: readonly string[],
  depth: number,
  isIt: (node: Node<Route>) => boolean,
): Node<Route> | undefined {
  const segment = segments[depth];
  if (segment === undefined) return isIt(node) ? node : undefined;
  const fixed = node.fixed.get(segment);
  const found = fixed && search(fixed, segments, depth + 1, isIt);
  if (found !== undefined || node.any === undefined || segment === '') return found;
  return search(node.any, segments, depth + 1, isIt);
}

function parametersOf(path: string): Node<unknown>['parameters'] {
  return [...path.split('/').entries()]
    .filter(([, segment]) => isParameter(segment))
    .map(([index, segment]) => [segment.slice(1, -1), index] as const);
}

function paramsOf(
  parameters: Node<unknown>['parameters'],
  segments: readonly string[],
): Readonly<Record<string, string>> {
  const params: Record<string, string> = {};
  for (const [name, index] of parameters) {
    params[name] = tryDecodeURIComponent(segments[index] ?? '');
  }
  return params;
}
