import type { ModelInfo } from '../protocol/messages';
import { uniqueId } from '../view/element';
import { button, element, icon } from './element';
import { compactNumber, priceText, shortModel } from './figures';
import { Popup } from './popup';
import type { Requests } from './requests';
import { Search } from './search';
import { messageOf, type Words } from './words';

// The kernel answers with no more models than this.
const MOST = 50;

/** The button that shows the model, and the list in which another is chosen: a combobox over a listbox. */
export class ModelPicker {
  readonly button: HTMLButtonElement;
  private readonly name: HTMLElement;
  private readonly words: Words;
  private readonly requests: Requests;
  private readonly popup: Popup;
  private readonly search: Search<{ models: ModelInfo[]; current: string }>;
  private readonly list: HTMLElement;
  private models: ModelInfo[] = [];
  private active = -1;

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
    this.list = element('div', {
      role: 'listbox',
      id: uniqueId(),
      class: 'am-chat-list',
      'aria-label': words('Models')
    });
    const { field } = this.search;
    field.setAttribute('role', 'combobox');
    field.setAttribute('aria-autocomplete', 'list');
    field.setAttribute('aria-expanded', 'true');
    field.setAttribute('aria-controls', this.list.id);
    field.addEventListener('keydown', event => this.takeKey(event));
    this.popup.panel.append(field, this.list, this.search.message);
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
    this.models = models;
    this.list.replaceChildren(
      ...models.map((model, place) => {
        const option = this.option(model, model.id === current);
        option.addEventListener('click', () => void this.choose(place));
        option.addEventListener('pointermove', () => this.activate(place, false));
        return option;
      })
    );
    if (models.length === 0) {
      this.search.tell(this.words('No model has “%1” in its name.', this.search.field.value.trim()));
    } else if (models.length >= MOST) {
      this.search.tell(this.words('The first %1 models; search to find others.', models.length));
    }
    this.activate(
      Math.max(
        0,
        models.findIndex(model => model.id === current)
      )
    );
  }

  private option(model: ModelInfo, isCurrent: boolean): HTMLElement {
    const { words } = this;
    const facts = [
      model.window === null ? '' : words('%1 tokens', compactNumber(model.window)),
      priceText(model.prices, words),
      model.key ? '' : words('no key')
    ];
    const option = element(
      'div',
      { role: 'option', id: uniqueId(), class: 'am-chat-option', 'aria-selected': 'false' },
      element('span', { class: 'am-chat-option-name' }, model.id)
    );
    if (isCurrent) {
      option.classList.add('am-chat-current');
      facts.unshift(words('in use'));
    }
    if (!model.key) {
      option.classList.add('am-chat-without-key');
    }
    option.append(element('span', { class: 'am-chat-option-note' }, facts.filter(Boolean).join(' · ')));
    return option;
  }

  private takeKey(event: KeyboardEvent): void {
    switch (event.key) {
      case 'ArrowDown':
        this.activate(this.active + 1);
        break;
      case 'ArrowUp':
        this.activate(this.active - 1);
        break;
      case 'Enter':
        void this.choose(this.active);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  private activate(place: number, scroll = true): void {
    const count = this.models.length;
    this.active = count === 0 ? -1 : (place + count) % count;
    this.search.field.removeAttribute('aria-activedescendant');
    [...this.list.children].forEach((option, other) => {
      option.setAttribute('aria-selected', String(other === this.active));
      if (other === this.active) {
        this.search.field.setAttribute('aria-activedescendant', option.id);
        if (scroll) {
          option.scrollIntoView?.({ block: 'nearest' });
        }
      }
    });
  }

  private async choose(place: number): Promise<void> {
    const model = this.models[place];
    if (!model) {
      return;
    }
    this.search.tell(this.words('Choosing…'));
    try {
      await this.requests.request('set_model', { model: model.id });
      this.popup.close();
    } catch (error) {
      this.search.tell(messageOf(error));
    }
  }
}
