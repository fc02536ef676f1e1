// What a person asks of a run besides moving it: watched expressions, a node's backward checked, what an edit has changed.
import type { Client } from './protocol';
import { isOver, type Run } from './run';
import { Sheet } from './sheet';
import { FLAGS } from './snapshot';
import type { Changed, Check, Watches as WatchedNow } from './asking';
import type { Viewer } from './viewer';
import { Watches } from './watches';

export class Questions {
  readonly watches: Watches;
  readonly sheet: Sheet;

  constructor(
    private readonly client: Client,
    private readonly viewer: () => Viewer,
    private readonly run: () => Run | null,
    private readonly watched: (now: WatchedNow) => void,
    private readonly refused: (command: string, error: Error) => void,
  ) {
    this.watches = new Watches(
      expressions => this.watch(expressions),
      () => this.viewer().focus(),
    );
    this.sheet = new Sheet(() => this.viewer().focus());
  }

  private async watch(expressions: string[]): Promise<void> {
    if (!this.open) throw new Error('this run is closed');
    this.watched(await this.client.request<WatchedNow>('setWatches', { expressions }));
  }

  private get open(): Run | null {
    const run = this.run();
    return run && !run.closed ? run : null;
  }

  async check(node: number): Promise<void> {
    const run = this.open;
    if (!run || node < 0) return;
    try {
      const found = await this.client.request<Check>('check', { node: run.graph.nodes.id[node] });
      this.sheet.check(found);
      this.viewer().say(found.sentence);
    } catch (error) {
      this.refused('check', error as Error);
    }
  }

  async compare(): Promise<void> {
    if (!this.open) return;
    try {
      const found = await this.client.request<Changed>('compare');
      this.sheet.changed(found, id => this.viewer().open(this.run()?.positions.get(id) ?? null));
      this.viewer().say(found.sentence);
    } catch (error) {
      this.refused('compare', error as Error);
    }
  }

  /** Once an edited pass is over, what the edit changed is listed; hooks would run again for that, so with hooks one asks for it. */
  tellOfEdits(run: Run): void {
    if (!run.edited.size) return this.sheet.close();
    const hooked = run.graph.nodes.flags.some(flags => flags & FLAGS.hooks);
    if (this.sheet.isOpen || (isOver(run) && !hooked)) void this.compare();
    else if (isOver(run)) this.viewer().say(`${run.sentence} Press c to list what the edit changed.`);
  }
}
