export const Canvas = ({ shape }) => {
  return <Frame>{shape.name}</Frame>;
};

export default function Frame({ children }) {
  return <div>{children}</div>;
}
