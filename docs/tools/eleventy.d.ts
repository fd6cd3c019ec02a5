/** The part of Eleventy's interface that builds the manual; the package has no types. */
declare module '@11ty/eleventy' {
  interface MarkdownLibrary {
    set(options: { readonly html: boolean }): void;
    readonly core: {
      readonly ruler: {
        push(
          name: string,
          rule: (state: {
            readonly tokens: readonly import('./manual-links.ts').MarkdownToken[];
            readonly env: { readonly source?: string };
          }) => void,
        ): void;
      };
    };
  }

  interface EleventyConfig {
    addTemplate(path: string, content: string, data: Readonly<Record<string, unknown>>): void;
    addGlobalData(name: string, value: unknown): void;
    addPassthroughCopy(paths: Readonly<Record<string, string>>): void;
    amendLibrary(kind: 'md', change: (library: MarkdownLibrary) => void): void;
    setUseGitIgnore(isUsed: boolean): void;
  }

  interface EleventyOptions {
    readonly configPath: string | false;
    readonly quietMode: boolean;
    readonly config: (config: EleventyConfig) => void;
  }

  export class Eleventy {
    constructor(input: string, output: string, options: EleventyOptions);
    disableLogger(): void;
    write(): Promise<unknown>;
  }
}
