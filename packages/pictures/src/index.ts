export { examinePicture, type Picture } from './examine-picture.ts'
export { PictureError } from './picture-error.ts'
