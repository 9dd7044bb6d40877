export { ImagesAhead, NO_IMAGES_AHEAD, type HostImagesAhead } from './images-ahead.js';
