/** The Ruby client's methods, and its types in RBS; pure */
import type { ClientModel } from './client-model.ts';
import { rubyResources, rubySignatures } from './ruby-resources.ts';
import { rubyTypes } from './ruby-types.ts';
import { GENERATED, indent } from './source-text.ts';

export function emitRuby(model: ClientModel): Readonly<Record<string, string>> {
  return {
    'lib/offhook/generated/resources.rb': `# frozen_string_literal: true\n\n${inModule(rubyResources(model))}`,
    'sig/generated/resources.rbs': inModule(rubySignatures(model)),
    'sig/generated/types.rbs': inModule(rubyTypes(model)),
  };
}

function inModule(text: string): string {
  return `# ${GENERATED}\n\nmodule Offhook\n${indent(text, '  ')}\nend\n`;
}
