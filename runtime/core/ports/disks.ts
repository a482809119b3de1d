/** Room on the disk behind a directory, bytes. */
export interface DiskSpace {
  /** What is kept there, as in `data`. */
  readonly name: string;
  readonly directory: string;
  readonly free: number;
  readonly total: number;
}

/** The disks that this platform writes to, as far as this process has access to them. */
export interface Disks {
  /** Rejects when one cannot be read. */
  read(): Promise<readonly DiskSpace[]>;
}
