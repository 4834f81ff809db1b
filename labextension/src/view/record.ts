export interface RunRecord {
  version: 1;
  run: string;
}
