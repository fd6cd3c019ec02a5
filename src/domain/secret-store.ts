/** The contract of the store that keeps the server's own secrets, such as the key of recording links. */

export interface SecretStore {
  /** Gives the secret of that name; makes and keeps it when there is none. */
  ensure(name: string, make: () => string): string;
}
