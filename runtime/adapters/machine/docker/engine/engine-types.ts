/** The parts of the engine's documents that are used here, by their names in its API (1.41). */

export interface ContainerSummary {
  readonly Id: string;
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export interface ContainerDocument {
  readonly Id: string;
  /** Id of the image. */
  readonly Image: string;
  readonly State: {
    readonly Running: boolean;
    readonly OOMKilled: boolean;
    readonly ExitCode: number;
    readonly Error: string;
  };
  readonly HostConfig: { readonly Memory: number };
  readonly Config: { readonly Labels: Readonly<Record<string, string>> };
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>> };
}

export interface ImageDocument {
  readonly Id: string;
}

export interface NetworkDocument {
  readonly Id: string;
  readonly Name: string;
  readonly Labels: Readonly<Record<string, string>> | null;
  readonly IPAM: { readonly Config: readonly { readonly Gateway?: string; readonly Subnet?: string }[] | null };
}

/** One line of the engine's response to a pull. */
export interface PullLine {
  readonly id?: string;
  readonly status?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly error?: string;
}

export interface EngineEvent {
  readonly Action: string;
  readonly Actor: { readonly Attributes: Readonly<Record<string, string>> };
}

export interface StatsDocument {
  readonly read: string;
  /** Time of the sample before that. */
  readonly preread: string;
  readonly cpu_stats?: CpuStats;
  readonly precpu_stats?: CpuStats;
  readonly memory_stats?: {
    readonly usage?: number;
    readonly stats?: { readonly total_inactive_file?: number; readonly inactive_file?: number };
  };
}

interface CpuStats {
  /** Nanoseconds so far. */
  readonly cpu_usage?: { readonly total_usage?: number };
}
