import { render } from 'preact';
import { Session } from './app/session';
import { App } from './ui/app';
import { richFrom } from './ui/rich_text';

richFrom(() => import('./rich/rich'));

const session = new Session();
render(<App session={session} />, document.getElementById('page')!);
addEventListener('hashchange', () => void session.openNamed());
void session.begin();
