/** One operation, or one event, as a section of the page; pure */
import type {
  Answer,
  Description,
  JsonSchema,
  Operation,
  OperationDocs,
} from '../openapi/description.ts';
import { curlExample } from './curl-example.ts';
import { type Field, fieldOf, fieldsOf } from './fields.ts';
import { type Html, html, inline, prose } from './html.ts';

export function operationSection(operation: Operation, description: Description): Html {
  const { method, path, docs, parameters, body } = operation;
  const { summary = '', operationId = '' } = docs;
  const scope = docs.security?.[0]?.bearer?.[0];
  const rows = parameters.map((parameter) => ({
    ...fieldOf(parameter.schema, description, parameter.name),
    isRequired: parameter.required === true,
    description: parameter.description ?? '',
    place: parameter.in,
  }));
  return html`<section id="${operationId}" aria-labelledby="${operationId}-title">
<h3 id="${operationId}-title"><a href="#${operationId}">${summary}</a></h3>
<p class="route"><b class="${method.toLowerCase()}">${method}</b> <code>${path}</code></p>
${prose(docs.description ?? '')}
${scope === undefined ? '' : html`<p>Needs a key with the scope <code>${scope}</code>.</p>`}
${fieldList('Parameters', rows)}
${fieldList('Body', body === undefined ? [] : fieldsOf(body, description))}
${answers(docs, description)}
<h4>Example</h4>
<pre tabindex="0"><code>${curlExample(operation, description)}</code></pre>
</section>
`;
}

/** @param kind such as `call.ended`. */
export function eventSection(kind: string, docs: OperationDocs, description: Description): Html {
  const id = `event-${kind}`;
  const schema = docs.requestBody?.content['application/json']?.schema ?? {};
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h3 id="${id}-title"><a href="#${id}"><code>${kind}</code></a></h3>
<p>${docs.summary ?? ''}.</p>
${fieldList('Body', fieldsOf(schema, description))}
</section>
`;
}

/** A heading and its fields; nothing when there are none. */
export function fieldList(
  title: string,
  fields: readonly (Field & { readonly place?: string })[],
): Html {
  if (fields.length === 0) return html``;
  return html`<h4>${title}</h4>
<dl>${fields.map((field) => fieldRow(field))}</dl>`;
}

function fieldRow(field: Field & { readonly place?: string }): Html {
  const words = [
    field.type,
    ...(field.place === undefined ? [] : [`in the ${field.place}`]),
    ...(field.isRequired ? ['required'] : []),
  ];
  return html`
<dt><code>${field.path}</code> <span>${words.join(', ')}</span></dt>
<dd>${inline(field.description)}${facts(field)}</dd>`;
}

function facts(field: Field): Html {
  return field.facts.length === 0
    ? html``
    : html` <small>${inline(field.facts.join('; '))}</small>`;
}

function answers(docs: OperationDocs, description: Description): Html {
  const entries = Object.entries(docs.responses);
  const good = entries.filter(([status]) => Number(status) < 400);
  const bad = entries.filter(([status]) => Number(status) >= 400);
  return html`<h4>Answers</h4>
${good.map(([status, answer]) => goodAnswer(status, answer, description))}
<details><summary>Errors: ${bad.map(([status]) => status).join(', ')}</summary>
<dl>${bad.map(
    ([status, answer]) => html`
<dt><b>${status}</b></dt>
<dd>${inline(answer.description)}</dd>`,
  )}</dl></details>`;
}

function goodAnswer(status: string, answer: Answer, description: Description): Html {
  const schema: JsonSchema | undefined = answer.content?.['application/json']?.schema;
  const fields = schema === undefined ? [] : fieldsOf(schema, description);
  const head = html`<b>${status}</b> ${inline(answer.description)}`;
  if (fields.length === 0) return html`<p>${head}</p>`;
  return html`<details open><summary>${head}</summary>
<dl>${fields.map((field) => fieldRow({ ...field, isRequired: false }))}</dl></details>`;
}
