import code from './plugins/code';
import mime from './plugins/mime';
import palette from './plugins/palette';

import '../style/base.css';

export default [mime, palette, code];
