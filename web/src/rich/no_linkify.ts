/** In place of what finds addresses in plain text: only what is written as a link is one (rich.ts: linkify is false). */
export default class NoLinkify {}
