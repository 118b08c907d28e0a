import type { Launch } from '../terminal.ts';
import { plainEnvironment, type Subject } from './subject.ts';

/** The program itself in the measuring side's pseudoterminal: the floor below which nothing can be. */
export class BareSubject implements Subject {
  readonly name = 'bare';
  readonly durable = false;
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  openSession(name: string, command: readonly string[]): Promise<Launch> {
    return Promise.resolve(this.runLaunch(name, command));
  }

  runLaunch(_name: string, command: readonly string[]): Launch {
    const [file = '', ...rest] = command;
    return { file, arguments: rest, directory: this.#home, environment: plainEnvironment(this.#home) };
  }

  /** The terminal that shows it is the session: closing that ends it. */
  closeSession(): Promise<void> {
    return Promise.resolve();
  }

  teardown(): Promise<void> {
    return Promise.resolve();
  }
}
