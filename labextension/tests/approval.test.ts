// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';

import type { Item } from '../src/view/record';
import type { RunActions } from '../src/view/view';
import { call, question, running, text } from './records';
import { acting, settle, shown } from './view_page';

describe('a question', () => {
  const asked = (fields: Partial<Item> = {}, more: Partial<RunActions> = {}) => {
    const { actions, answers, shownQuestions } = acting(more);
    const items = [call('1', { name: 'run_python', state: 'pending', seconds: null }), question('2', fields)];
    return { ...shown(running(items), { actions }), answers, shownQuestions, items };
  };

  test('stands in the place of its call, shows all arguments, and is told to the kernel once', () => {
    const { find, all, shownQuestions, update, items } = asked();
    expect(all('.am-items > *').length).toBe(1);
    const dialog = find('[role=alertdialog]')!;
    const title = document.getElementById(dialog.getAttribute('aria-labelledby')!)!;
    expect(title.textContent).toBe('run_python wants to run code');
    expect(dialog.textContent).toContain('waiting for you');
    const body = document.getElementById(dialog.getAttribute('aria-describedby')!)!;
    expect([...body.querySelectorAll('pre')].map(block => block.textContent)).toEqual([
      '{"timeout": 30}',
      'x = 1\nprint(x)'
    ]);
    expect(all('.am-asked button:not(.am-code-buttons button)').map(button => button.textContent)).toEqual([
      'Run',
      'Always in this session',
      'Edit',
      'Deny…'
    ]);
    update(running([...items, text('3', 'more', 'running')]));
    expect(shownQuestions).toEqual(['2']);
    expect(document.activeElement).toBe(document.body);
  });

  test('says why it is asked', () => {
    const { find } = asked({ reason: 'The tool run_python has the effect execute.' });
    const body = document.getElementById(find('[role=alertdialog]')!.getAttribute('aria-describedby')!)!;
    expect(body.textContent).toContain('The tool run_python has the effect execute.');
  });

  test('shows what the call would run as it stands, beneath the reason', () => {
    const { find } = asked({ reason: 'run_cell runs code.\nThe cell c1:\nif x:\n    y()\u202e' });
    expect(find('[role=alertdialog] .am-note')!.textContent).toBe('run_cell runs code.');
    expect(find('[role=alertdialog] pre')!.textContent).toBe('The cell c1:\nif x:\n    y()\\u202e');
  });

  test.each([
    ['Run', 'once'],
    ['Always in this session', 'always']
  ])('%s answers %s', async (label, decision) => {
    const { press, answers, find } = asked();
    press(label);
    await settle();
    expect(answers).toEqual([{ approval: '2', decision, reason: '', arguments: null, hash: 'abc' }]);
    expect(find('[role=alertdialog]')!.getAttribute('aria-busy')).toBe('true');
    press('Run');
    expect(answers.length).toBe(1);
  });

  test('is denied with a word', async () => {
    const { press, answers, find } = asked();
    press('Deny…');
    const word = find('input') as HTMLInputElement;
    expect(document.activeElement).toBe(word);
    word.value = ' use another file ';
    word.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    await settle();
    expect(answers).toEqual([
      { approval: '2', decision: 'deny', reason: 'use another file', arguments: null, hash: 'abc' }
    ]);
  });

  test('takes other arguments: a text as it is, the rest as JSON', async () => {
    const { press, answers, all } = asked();
    press('Edit');
    const [code, timeout] = all('textarea') as HTMLTextAreaElement[];
    expect([code!.value, timeout!.value]).toEqual(['x = 1\nprint(x)', '30']);
    expect(document.activeElement).toBe(code);
    code!.value = 'print(2)';
    timeout!.value = 'soon';
    press('Run with these');
    expect(all('.am-field .am-problem').map(problem => problem.textContent)).toEqual([
      '',
      'This is not JSON; a text needs quotation marks.'
    ]);
    expect(document.activeElement).toBe(timeout);
    expect(timeout!.getAttribute('aria-invalid')).toBe('true');
    timeout!.value = '5';
    press('Run with these');
    await settle();
    expect(answers).toEqual([
      { approval: '2', decision: 'once', reason: '', arguments: { code: 'print(2)', timeout: 5 }, hash: 'abc' }
    ]);
  });

  test('sends no arguments where none was changed', async () => {
    const { press, answers } = asked();
    press('Edit');
    press('Run with these');
    await settle();
    expect(answers[0]!.arguments).toBeNull();
  });

  test('stays open with what the kernel says is wrong, and keeps what was written', async () => {
    const answer = async () => {
      throw new Error('timeout: must be positive');
    };
    const { press, all, find } = asked({}, { answer });
    press('Edit');
    (all('textarea') as HTMLTextAreaElement[])[1]!.value = '-1';
    press('Run with these');
    await settle();
    expect(find('.am-body > .am-problem')!.textContent).toBe('timeout: must be positive');
    expect(find('.am-body > .am-problem')!.getAttribute('role')).toBe('alert');
    expect((all('textarea') as HTMLTextAreaElement[])[1]!.value).toBe('-1');
    expect((all('textarea') as HTMLTextAreaElement[])[1]!.disabled).toBe(false);
  });

  test('Escape leads back to the buttons, and the focus with it', () => {
    const { press, find, all } = asked();
    press('Edit');
    find('textarea')!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect(all('textarea')).toEqual([]);
    expect(document.activeElement!.textContent).toBe('Edit');
  });

  test('gives the focus back when it is answered, and leaves the call with what it ran with', async () => {
    const before = document.createElement('button');
    document.body.append(before);
    const { press, update, find, open } = asked();
    before.focus();
    press('Run');
    await settle();
    const changed = question('2', { state: 'done', arguments: { code: 'print(2)' } });
    update(running([call('1', { name: 'run_python', state: 'running', seconds: null }), changed]));
    expect(document.activeElement).toBe(before);
    expect(find('[role=alertdialog]')).toBeNull();
    const card = await open('.am-tool');
    expect(card.textContent).toContain('Changed by you, and run with');
    expect(card.textContent).toContain('print(2)');
  });

  test('keeps the keys from the notebook', () => {
    const { press, find } = asked();
    press('Edit');
    expect(find('textarea')!.hasAttribute('data-lm-suppress-shortcuts')).toBe(true);
    find('pre')!.focus();
    expect(find('pre')!.hasAttribute('data-lm-suppress-shortcuts')).toBe(true);
  });

  test('answered elsewhere it closes here', () => {
    const { update, all, items, find } = asked();
    expect(find('.am-tool')).toBeNull();
    update(running([items[0]!, question('2', { state: 'denied' })]));
    expect(all('.am-asked')).toEqual([]);
    expect(find('.am-tool')).not.toBeNull();
  });

  test('without a call stands alone, and then says what became of it', () => {
    const { update, words } = asked({ call_id: 'another' });
    update(running([question('2', { call_id: 'another', state: 'denied' })]));
    expect(words('.am-asked')).toBe('⊘ run_python: denied');
  });

  test('cannot be answered where the page cannot act', () => {
    const { all, words, find } = shown(running([question('1')]));
    expect(all('.am-asked button:not(.am-code-buttons button)')).toEqual([]);
    expect(words('.am-ask')).toContain('waiting for you');
    expect(find('[role=alertdialog]')).toBeNull();
  });

  test('writes hidden and turning characters as escapes', () => {
    const evil = '\u202edlrow\u2066';
    const { find } = asked({ name: evil, reason: evil, arguments: { code: `${evil}\n`, [evil]: evil } });
    expect(find('.am-ask')!.textContent).not.toMatch(/[\u202e\u2066]/);
    expect(find('.am-ask')!.textContent).toContain('\\u202edlrow\\u2066');
  });
});
