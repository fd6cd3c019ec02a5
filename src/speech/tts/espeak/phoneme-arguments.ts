/** How espeak-ng is asked for phonemes; pure */

/** Words of the command line that write phonemes of UTF-8 text to standard output. @param voice file, and variant. */
export function phonemeArguments(voice: string): string[] {
  return ['-q', '--ipa', '-b', '1', '-v', voice];
}
