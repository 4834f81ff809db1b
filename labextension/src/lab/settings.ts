import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { SendKey } from '../chat/host';

/** As settings/plugin.json describes them. */
export interface Settings {
  side: 'left' | 'right';
  openAtStart: boolean;
  sendKey: SendKey;
  askAboutErrors: boolean;
}

export const DEFAULTS: Settings = { side: 'right', openAtStart: false, sendKey: 'Enter', askAboutErrors: true };

export function readSettings(settings: ISettingRegistry.ISettings): Settings {
  const { side, openAtStart, sendKey, askAboutErrors } = settings.composite as Partial<Settings>;
  return {
    side: side ?? DEFAULTS.side,
    openAtStart: openAtStart ?? DEFAULTS.openAtStart,
    sendKey: sendKey ?? DEFAULTS.sendKey,
    askAboutErrors: askAboutErrors ?? DEFAULTS.askAboutErrors
  };
}
