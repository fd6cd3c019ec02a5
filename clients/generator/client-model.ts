/** The REST interface as the emitters see it: named types, and operations grouped by resource; pure */

/** Type of a JSON value. */
export type TypeRef =
  | { readonly kind: 'string' | 'integer' | 'number' | 'boolean' | 'unknown' }
  /** One of a closed set of values. */
  | { readonly kind: 'choice'; readonly values: readonly (string | boolean)[] }
  | { readonly kind: 'list'; readonly items: TypeRef }
  /** An object with any names. */
  | { readonly kind: 'map'; readonly values: TypeRef }
  | { readonly kind: 'nullable'; readonly of: TypeRef }
  /** One of `ClientModel.types`. */
  | { readonly kind: 'named'; readonly name: string };

export interface Field {
  /** As in JSON. */
  readonly name: string;
  readonly type: TypeRef;
  /** Without it, the field may be absent; that is another thing than null. */
  readonly isRequired: boolean;
  readonly description: string;
}

/** Shape of a named type. */
export type Shape =
  | { readonly kind: 'record'; readonly fields: readonly Field[] }
  | { readonly kind: 'union'; readonly of: readonly TypeRef[] }
  | { readonly kind: 'alias'; readonly of: TypeRef };

/** A type of the document, or an object inside one, named after its place: `CallEndedEventData`. */
export interface NamedType {
  /** In PascalCase. */
  readonly name: string;
  readonly description: string;
  readonly shape: Shape;
}

/** What the answer of an operation is read as. */
export type AnswerKind =
  | { readonly kind: 'json'; readonly type: TypeRef }
  /** 204. */
  | { readonly kind: 'nothing' }
  /**
   * A list. `offset`: `{data, total, limit, offset}`; the next page has `offset` plus the number of items.
   * `cursor`: `{data, nextCursor, hasMore}`; the next page has `cursor` = `nextCursor`, while `hasMore`.
   */
  | {
      readonly kind: 'page';
      readonly style: 'offset' | 'cursor';
      readonly page: TypeRef;
      readonly item: TypeRef;
    }
  /** A file, or sound without an end. */
  | { readonly kind: 'download'; readonly contentType: string }
  /** Server-Sent Events. */
  | { readonly kind: 'events' };

/**
 * What a client may repeat by itself. `always`: after every passing failure. `keyed`: likewise, with the same
 * `X-Idempotency-Key` in each attempt. `refused`: only after 429 and 503, which say that nothing was done.
 */
export type RetryRule = 'always' | 'keyed' | 'refused';

export interface ClientOperation {
  /** `operationId` of the document. */
  readonly id: string;
  /** In camelCase, such as `webhookEndpoints`. */
  readonly resource: string;
  /** In camelCase, such as `listVersions`. */
  readonly verb: string;
  /** In capitals. */
  readonly method: string;
  /** With `{names}` of `pathParameters`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** In the order in which the path has them. */
  readonly pathParameters: readonly Field[];
  readonly query: readonly Field[];
  /** Header `If-Match`. */
  readonly takesIfMatch: boolean;
  /** Null where it takes none. */
  readonly body: TypeRef | null;
  readonly answer: AnswerKind;
  readonly retry: RetryRule;
}

export interface ClientModel {
  /** In the order of the document; types inside a type follow it. */
  readonly types: readonly NamedType[];
  readonly operations: readonly ClientOperation[];
  /** Values of `error.code`. */
  readonly errorCodes: readonly string[];
  /** Bodies of webhook deliveries, by the kind of the event. */
  readonly webhookEvents: readonly { readonly event: string; readonly type: TypeRef }[];
}

/** Operations by resource, in the order of the document. */
export function byResource(model: ClientModel): ReadonlyMap<string, readonly ClientOperation[]> {
  return Map.groupBy(model.operations, ({ resource }) => resource);
}
