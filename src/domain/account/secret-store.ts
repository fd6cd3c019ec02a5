/** The contract of the store that keeps the server's own secrets, such as the key of recording links. */

export interface SecretStore {
  /** Gives the secret of that name; makes and keeps it when there is none. */
  ensure(name: string, make: () => string): string;

  find(name: string): string | undefined;

  /**
   * Puts `next` in the place of `known`, unless the secret is another by now.
   *
   * @param known undefined when there is to be none yet.
   * @param next undefined to forget it.
   * @returns whether it was done.
   */
  exchange(name: string, known: string | undefined, next: string | undefined): boolean;
}
