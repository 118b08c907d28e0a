/** What an agent lets be chosen, in the three ways in which ACP has it: modes, models, options of its own. */
import * as z from 'zod';
import { boundText, byteLength } from '../agent-text.ts';
import type { Conversation } from '../conversation.ts';
import type { ConfigOptions, SessionResult } from './session-messages.ts';

export const MODE = 'mode';
export const MODEL = 'model';

const Listed = z.object({ id: z.string(), label: z.string() });
export const Offer = z.object({
  choice: z.string(),
  current: z.string().nullable(),
  available: z.array(Listed),
  how: z.enum(['set_mode', 'set_model', 'set_config_option']),
});
export type Offer = z.infer<typeof Offer>;
/** Choices that are kept, and what each of them offers. */
const OFFERS_MAX = 6;
const OFFERED_MAX = 32;

type Opened = z.infer<typeof SessionResult>;

export class Offers {
  readonly #talk: Pick<Conversation<never>, 'choices'>;
  readonly #offers: Offer[];

  constructor(talk: Pick<Conversation<never>, 'choices'>, state: readonly Offer[]) {
    this.#talk = talk;
    this.#offers = [...state];
  }

  /** null: there is no such choice, or it does not offer that. */
  find(choice: string, id: string): Offer | null {
    const offer = this.#offers.find((one) => one.choice === choice);
    return offer?.available.some((one) => one.id === id) === true ? offer : null;
  }

  /** What a session has when it is opened. */
  opened({ modes, models, configOptions }: Pick<Opened, 'modes' | 'models' | 'configOptions'>): void {
    if (modes) {
      const available = modes.availableModes.map(({ id, name }) => ({ id, label: name ?? id }));
      this.#offer({ choice: MODE, current: modes.currentModeId, available, how: 'set_mode' });
    }
    if (models) {
      const available = models.availableModels.map(({ modelId: id, name }) => ({ id, label: name ?? id }));
      this.#offer({ choice: MODEL, current: models.currentModelId, available, how: 'set_model' });
    }
    this.options(configOptions);
  }

  options(options: ConfigOptions): void {
    for (const { id, type, currentValue, options: values } of options) {
      if (type !== 'select') continue;
      const available = values.map(({ value, name }) => ({ id: value, label: name ?? value }));
      const current = typeof currentValue === 'string' ? currentValue : null;
      this.#offer({ choice: id, current, available, how: 'set_config_option' });
    }
  }

  chosen(choice: string, id: string): void {
    const offer = this.#offers.find((one) => one.choice === choice);
    if (offer !== undefined) this.#offer({ ...offer, current: id });
    else if (choice === MODE) this.#talk.choices(MODE, id, []);
  }

  state(): Offer[] {
    return this.#offers;
  }

  #offer({ choice, current, available, how }: Offer): void {
    const kept: Offer = {
      choice: boundText(choice, 128),
      current: current === null ? null : boundText(current, 256),
      available: available
        .filter(({ id }) => byteLength(id) <= 128)
        .slice(0, OFFERED_MAX)
        .map(({ id, label }) => ({ id, label: boundText(label, 64) })),
      how,
    };
    const at = this.#offers.findIndex((one) => one.choice === kept.choice);
    if (at >= 0) this.#offers[at] = kept;
    else if (this.#offers.length < OFFERS_MAX) this.#offers.push(kept);
    else return;
    this.#talk.choices(kept.choice, kept.current, kept.available);
  }
}
