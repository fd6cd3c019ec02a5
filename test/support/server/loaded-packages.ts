/** To be imported by a program before all else: prints what of OpenTelemetry's own kit is loaded (its bare interface is loaded by what counts metrics). */
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    if (specifier.startsWith('@opentelemetry/sdk')) process.stderr.write(`loaded ${specifier}\n`);
    return nextResolve(specifier, context);
  },
});
