import type { ModelInfo } from '../protocol/messages';
import { button, element, icon } from './element';
import { compactNumber, priceText, shortModel } from './figures';
import { type Option, Options } from './options';
import { Popup } from './popup';
import type { Requests } from './requests';
import { Search } from './search';
import { messageOf, type Words } from './words';

// The kernel answers with no more models than this.
const MOST = 50;
// Built in, and no real model.
const DEMO = 'demo';

/** The button that shows the model, and the list in which another is chosen: a combobox over a listbox. */
export class ModelPicker {
  readonly button: HTMLButtonElement;
  private readonly name: HTMLElement;
  private readonly words: Words;
  private readonly requests: Requests;
  private readonly popup: Popup;
  private readonly search: Search<{ models: ModelInfo[]; current: string }>;
  private readonly options: Options<ModelInfo>;

  constructor(root: HTMLElement, words: Words, requests: Requests) {
    this.words = words;
    this.requests = requests;
    this.name = element('span', { class: 'am-chat-model-name' });
    this.button = button(this.name, () => undefined, { class: 'am-chat-button am-chat-quiet am-chat-model' });
    this.button.append(icon('down'));
    this.popup = new Popup(this.button, root, 'dialog', words('Model'), () => this.search.start());
    this.search = new Search(
      words('Search models'),
      words,
      filter => requests.request('models', { filter }),
      found => this.show(found.models, found.current)
    );
    const { field } = this.search;
    this.options = new Options(field, words('Models'), model => void this.choose(model));
    field.setAttribute('role', 'combobox');
    field.setAttribute('aria-expanded', 'true');
    field.addEventListener('keydown', event => this.options.takeKey(event));
    this.popup.panel.append(field, this.options.element, this.search.message);
    this.setModel('');
  }

  setModel(id: string): void {
    const name = id ? shortModel(id) : this.words('Model');
    this.name.textContent = name;
    this.button.title = id;
    this.button.setAttribute('aria-label', id ? this.words('Model: %1', id) : name);
  }

  dispose(): void {
    this.popup.dispose();
  }

  /** The models that can be used now stand first. */
  private show(found: ModelInfo[], current: string): void {
    const models = [...found.filter(model => model.key), ...found.filter(model => !model.key)];
    const { words } = this;
    if (models.length === 0) {
      this.search.tell(words('No model has “%1” in its name.', this.search.field.value.trim()));
    } else {
      const more = models.length < MOST ? '' : words('The first %1 models; search to find others.', models.length);
      this.search.tell([more, this.howToGetOthers(models)].filter(Boolean).join(' '));
    }
    this.options.show(
      models,
      model => this.described(model, model.id === current),
      models.findIndex(model => model.id === current)
    );
  }

  /** Where no key opens any of these models: what to do, else nothing. */
  private howToGetOthers(models: ModelInfo[]): string {
    const { words } = this;
    if (models.some(model => model.key && model.id !== DEMO)) {
      return '';
    }
    const closed = models.find(model => !model.key);
    return closed
      ? words('These need a key: type %agent login %1 in a cell.', closed.id.split('/')[0]!)
      : words('For a real model, set a key such as OPENAI_API_KEY, or type %agent login openai in a cell.');
  }

  private described(model: ModelInfo, isCurrent: boolean): Option {
    const { words } = this;
    const facts = [
      isCurrent ? words('in use') : '',
      model.window === null ? '' : words('%1 tokens', compactNumber(model.window)),
      priceText(model.prices, words),
      model.key ? '' : words('no key')
    ];
    return { name: model.id, note: facts.filter(Boolean).join(' · '), isCurrent };
  }

  private async choose(model: ModelInfo): Promise<void> {
    this.search.tell(this.words('Choosing…'));
    try {
      await this.requests.request('set_model', { model: model.id });
      this.popup.close();
    } catch (error) {
      this.search.tell(messageOf(error));
    }
  }
}
