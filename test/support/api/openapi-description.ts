/** The OpenAPI document as we read it: operations, and schemas with their references followed; pure */

/** The keywords that our schemas use. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly uniqueItems?: boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly description?: string;
}

export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: string;
  readonly schema: JsonSchema;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

export interface Answer {
  readonly description: string;
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
}

export interface OperationDocs {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
  /** With the scope that the key must have; an empty one stands for no key. */
  readonly security?: readonly { readonly bearer?: readonly string[] }[];
}

type Paths = Readonly<Record<string, Readonly<Record<string, OperationDocs>>>>;

export interface Description {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly webhooks: Paths;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, { readonly description: string }>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

/** One method of one path. */
export interface Operation {
  /** In capitals. */
  readonly method: string;
  /** With `{names}` of its parameters. */
  readonly path: string;
  readonly docs: OperationDocs;
  /** Its own and the shared ones, references followed. */
  readonly parameters: readonly Parameter[];
  /** Undefined when it takes no body. */
  readonly body: JsonSchema | undefined;
}

/** Every operation, in the order of the document. */
export function operationsOf({ paths, components }: Description): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, docs]) => ({
      method: method.toUpperCase(),
      path,
      docs,
      parameters: (docs.parameters ?? []).map((parameter) => {
        const name = parameter.$ref?.replace('#/components/parameters/', '') ?? '';
        return components.parameters[name] ?? parameter;
      }),
      body: docs.requestBody?.content['application/json']?.schema,
    })),
  );
}

/**
 * The schema that a reference leads to, or the schema itself; parts that all must hold are put together in it.
 *
 * @throws {Error} when a reference leads nowhere.
 */
export function followed(schema: JsonSchema, description: Description): JsonSchema {
  const { $ref, allOf, ...own } = schema;
  if ($ref !== undefined) {
    const target = description.components.schemas[$ref.replace('#/components/schemas/', '')];
    if (target === undefined) throw new Error(`"${$ref}" leads nowhere`);
    return followed(target, description);
  }
  if (allOf === undefined) return schema;
  return allOf.map((part) => followed(part, description)).reduce(together, own);
}

function together(left: JsonSchema, right: JsonSchema): JsonSchema {
  return {
    ...right,
    ...left,
    properties: { ...right.properties, ...left.properties },
    required: [...(right.required ?? []), ...(left.required ?? [])],
  };
}
