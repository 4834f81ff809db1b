// @vitest-environment jsdom
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Widget } from '@lumino/widgets';
import { expect, test, vi } from 'vitest';

import { SidePlace } from '../src/lab/side';

function made(): { place: SidePlace; done: string[]; widget: { isVisible: boolean; parent: unknown } } {
  const done: string[] = [];
  const areas: Record<string, unknown[]> = { left: [], right: [] };
  const widget = {
    id: 'panel',
    isVisible: false,
    parent: {} as unknown,
    activate: vi.fn(() => void done.push('activate'))
  };
  const shell = {
    widgets: (area: string) => areas[area]!.values(),
    add: (added: unknown, area: string) => {
      areas.left = areas.left!.filter(each => each !== added);
      areas.right = areas.right!.filter(each => each !== added);
      areas[area]!.push(added);
      done.push(`add ${area}`);
    },
    activateById: (id: string) => {
      widget.isVisible = !widget.isVisible;
      done.push(`show ${id}`);
    },
    collapseLeft: () => void done.push('collapse left'),
    collapseRight: () => void done.push('collapse right')
  };
  return {
    place: new SidePlace(shell as unknown as JupyterFrontEnd.IShell, widget as unknown as Widget),
    done,
    widget
  };
}

test('the panel is put on a side once, and moved when the user wants it on the other', () => {
  const { place, done, widget } = made();
  expect(place.isThere).toBe(false);
  place.moveTo('right');
  expect(place.isThere).toBe(true);
  place.moveTo('right');
  place.moveTo('left');
  expect(widget.parent).toBeNull();
  place.close();
  place.moveTo('right');
  place.close();
  expect(done).toEqual(['add right', 'add left', 'collapse left', 'add right', 'collapse right']);
});

test('opening shows it once; Notebook 7.2 would hide one that is shown', () => {
  const { place, done, widget } = made();
  place.moveTo('right');
  place.open();
  place.open();
  expect(widget.isVisible).toBe(true);
  expect(done).toEqual(['add right', 'show panel', 'activate', 'activate']);
});
