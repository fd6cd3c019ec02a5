/** What a described route says to the compiler of its requests and answers; pure */
import type { RouteConfig } from '@hono/zod-openapi';
import type { ZodType, z } from 'zod';
import type { ApiContext, Guard } from '../api-env.ts';
import type { ApiAnswer, JsonAnswer } from './api-answer.ts';

/** A route as `createRoute` makes it, and what requests pass before it, in this order. */
export type DescribedRoute = Omit<RouteConfig, 'middleware'> & {
  readonly guards?: readonly Guard[];
};

/** What the schemas make of the parts of a request. */
interface GivenTo<Described> {
  readonly query: PartOf<Described, 'query'>;
  readonly param: PartOf<Described, 'params'>;
  readonly json: BodyOf<Described>;
}

type PartOf<Described, Part extends string> = Described extends {
  request: { [Name in Part]: infer Schema extends ZodType };
}
  ? z.output<Schema>
  : never;

type BodyOf<Described> = Described extends { request: { body: infer Body } }
  ? SchemaOf<Body> extends infer Schema extends ZodType
    ? z.output<Schema>
    : never
  : never;

type SchemaOf<Message> = Message extends {
  content: { 'application/json': { schema: infer Schema extends ZodType } };
}
  ? Schema
  : undefined;

/** A request of the route, checked. */
export interface RouteContext<Described> extends ApiContext {
  /** What the schema made of a part of the request. */
  valid<Part extends keyof GivenTo<Described>>(part: Part): GivenTo<Described>[Part];
}

/** The answers that the route describes. */
export type AnswerOf<Described extends DescribedRoute> = {
  [Status in keyof Described['responses'] & number]: SchemaOf<
    Described['responses'][Status]
  > extends infer Schema extends ZodType
    ? JsonAnswer<z.infer<Schema>, Status>
    : ApiAnswer<Status>;
}[keyof Described['responses'] & number];
