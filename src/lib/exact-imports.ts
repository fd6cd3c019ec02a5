/** Imports that are taken at their word: for each of some three thousand, Node would ask the file system what it leads to. */
import { registerHooks } from 'node:module';

/**
 * Has relative imports of ES modules name their file as it is, which ours and those of packages do: no link in between
 * is followed. A file that is not there is missed when it is read. Saves a fifth of the time that loading takes.
 *
 * @returns has Node look again; safe to call twice.
 */
export function trustImports(): () => void {
  const hooks = registerHooks({
    resolve: (specifier, context, asNode) => {
      const isExact = specifier.startsWith('.') && context.conditions.includes('import');
      if (!isExact) return asNode(specifier, context);
      return { url: new URL(specifier, context.parentURL).href, shortCircuit: true };
    },
  });
  return () => hooks.deregister();
}
