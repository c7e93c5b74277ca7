import { render } from 'preact';
import { Session } from './app/session';
import { App } from './ui/app';

const session = new Session();
render(<App session={session} />, document.getElementById('page')!);
addEventListener('hashchange', () => session.openNamed());
void session.begin();
