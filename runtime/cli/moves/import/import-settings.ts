/** How files are read. */
export interface ImportSettings {
  /** Keys below `com.openfaas.` that Weir reads get the prefix `com.service.`. */
  readonly renameKeys: boolean;
  /** Whether it is a stack file: `${NAME:-default}` is a reference in it, and `40m` of memory may mean 40 MiB. */
  readonly isStackFile: boolean;
}
