import { Chat } from '../chat/chat';
import { Client } from '../protocol/client';
import type { Place } from './run';

/** Show the chat with the agent at the other end of `transport`. Returns how to dispose of it. */
export function renderChat({ transport, element }: Place): () => void {
  const room = document.createElement('div');
  room.className = 'am-chat-widget';
  room.setAttribute('role', 'region');
  room.setAttribute('aria-label', 'Agent');
  // It stands in a notebook, whose keys are not meant here.
  room.dataset['lmSuppressShortcuts'] = 'true';
  element.append(room);
  const client = new Client(transport, 'widget');
  const chat = new Chat(room, client);
  client.onState(({ notebook }) => chat.setPlace(notebook?.split(/[\\/]/).pop() ?? ''));
  return () => {
    chat.dispose();
    client.dispose();
    room.remove();
  };
}
