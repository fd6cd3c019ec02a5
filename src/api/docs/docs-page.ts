/** The readable page of the interface, made from its OpenAPI document: one page, without scripts; pure */
import { type Description, type Operation, operationsOf } from '../openapi/description.ts';
import { fieldsOf } from './fields.ts';
import { type Html, html, inline, prose } from './html.ts';
import { eventSection, fieldList, operationSection } from './operation-section.ts';

interface Group {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** The whole document as HTML. Its links are relative, so that it may be served under any address. */
export function docsPage(description: Description): string {
  const { info } = description;
  const groups = groupsOf(description);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} API ${info.version}</title>
<link rel="stylesheet" href="docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><h1>${info.title} API</h1><p>Version ${info.version}, <a href="api/openapi.json">OpenAPI 3.1</a></p></header>
<nav aria-label="Contents">${contents(groups, Object.keys(description.webhooks))}</nav>
<main id="content">
<section id="general"><h2>In general</h2>
${prose(info.description)}
${answerHeaders(description)}
${fieldList('Errors', fieldsOf(description.components.schemas.Error ?? {}, description))}
</section>
${groups.map((group) => groupSection(group, description))}
${eventSections(description)}
</main>
</body>
</html>
`;
  return page.text;
}

/** Groups that have operations, in the order of the document. */
function groupsOf(description: Description): readonly Group[] {
  const operations = operationsOf(description);
  return description.tags
    .map(({ name, description: about }) => ({
      id: name.toLowerCase(),
      name,
      description: about,
      operations: operations.filter(({ docs }) => docs.tags?.[0] === name),
    }))
    .filter((group) => group.operations.length > 0);
}

function contents(groups: readonly Group[], events: readonly string[]): Html {
  const entry = (id: string, text: string) => html`<li><a href="#${id}">${text}</a></li>`;
  const lists = groups.map(
    ({ id, name, operations }) => html`
<h2><a href="#${id}">${name}</a></h2>
<ul>${operations.map(({ docs }) => entry(docs.operationId ?? '', docs.summary ?? ''))}</ul>`,
  );
  return html`<ul>${entry('general', 'In general')}</ul>${lists}
<h2><a href="#event-bodies">Event bodies</a></h2>
<ul>${events.map((kind) => entry(`event-${kind}`, kind))}</ul>`;
}

function answerHeaders({ components }: Description): Html {
  return html`<h4>Headers of answers</h4>
<dl>${Object.entries(components.headers).map(
    ([name, { description }]) => html`
<dt><code>${name}</code></dt>
<dd>${inline(description)}</dd>`,
  )}</dl>`;
}

function groupSection({ id, name, operations, ...group }: Group, description: Description): Html {
  return html`<section id="${id}"><h2>${name}</h2>
${prose(group.description)}
${operations.map((operation) => operationSection(operation, description))}
</section>
`;
}

function eventSections(description: Description): Html {
  const events = Object.entries(description.webhooks).flatMap(([kind, { post }]) =>
    post === undefined ? [] : [{ kind, docs: post }],
  );
  const [first] = events;
  if (first === undefined) return html``;
  const headers = (first.docs.parameters ?? []).map(
    ({ name, description: about = '' }) => html`
<dt><code>${name}</code></dt>
<dd>${inline(about)}</dd>`,
  );
  return html`<section id="event-bodies"><h2>Event bodies</h2>
${prose(first.docs.description ?? '')}
<h4>Headers</h4>
<dl>${headers}</dl>
${events.map(({ kind, docs }) => eventSection(kind, docs, description))}
</section>`;
}
