import { render } from 'preact';

render(<h1>Decoding Tree Sketching</h1>, document.getElementById('page')!);
